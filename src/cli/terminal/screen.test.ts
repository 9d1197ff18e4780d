import { expect, test } from "vitest";
import { Output, type Sink } from "./output.ts";
import { isQuit, Screen } from "./screen.ts";

function terminal() {
  const state = { written: "" };
  const sink = {
    isTTY: true,
    columns: 20,
    rows: 4,
    write: (text: string, done?: () => void) => {
      state.written += text;
      done?.();
      return true;
    },
  } satisfies Sink;
  /** The text written since the last call. */
  const take = () => {
    const { written } = state;
    state.written = "";
    return written;
  };
  return { sink, take, output: new Output(sink, {}) };
}

const ENTER = "\u001b[?1049h\u001b[?25l\u001b[?7l";
const LEAVE = "\u001b[?7h\u001b[?25h\u001b[?1049l";
const CLEAR = "\u001b[2J";

const line = (row: number, text: string) => `\u001b[${row};1H\u001b[2K${text}`;
const frame = (...lines: readonly string[]) => `\u001b[?2026h${lines.join("")}\u001b[?2026l`;

test("only lines that changed are written, in one synchronized update", async () => {
  const { take, output } = terminal();
  await using screen = new Screen(output);
  await screen.draw(["one", "two", "three"]);
  const first = frame(line(1, "one"), line(2, "two"), line(3, "three"));
  expect(take()).toBe(ENTER + CLEAR + first);
  await screen.draw(["one", "2"]);
  expect(take()).toBe(frame(line(2, "2"), line(3, "")));
  await screen.draw(["one", "2"]);
  expect(take()).toBe("");
});

test("what does not fit is counted, and would not scroll the screen", async () => {
  const { take, output } = terminal();
  await using screen = new Screen(output);
  await screen.draw(["1", "2", "3", "4", "5", "6"]);
  const text = take();
  expect(text).toContain(line(4, "… 3 more lines"));
  expect(text).not.toContain("\n");
});

test("another size draws everything again", async () => {
  const { sink, take, output } = terminal();
  await using screen = new Screen(output);
  await screen.draw(["one"]);
  take();
  sink.columns = 30;
  await screen.draw(["one"]);
  expect(take()).toBe(CLEAR + frame(line(1, "one")));
});

test.each(["q", "Q", "\u001b", "\u0004"])("the key %j ends it", (key) => {
  expect(isQuit(key)).toBe(true);
});

test.each(["x", "\u001b[A", " "])("the key %j does not", (key) => {
  expect(isQuit(key)).toBe(false);
});

test("at the end the terminal is as it was, once, and nothing listens any more", async () => {
  const listeners = process.listenerCount("exit");
  const { take, output } = terminal();
  const unused = new Screen(output);
  await unused.close();
  expect(take()).toBe("");
  const screen = new Screen(output);
  await screen.draw(["x"]);
  expect(process.listenerCount("exit")).toBe(listeners + 1);
  take();
  await screen.close();
  await screen.close();
  expect(take()).toBe(LEAVE);
  expect(process.listenerCount("exit")).toBe(listeners);
});
