import { EventEmitter } from "node:events";
import type { ReadStream, WriteStream } from "node:tty";
import { expect, test } from "vitest";
import { Screen } from "./screen.ts";

class Keyboard extends EventEmitter {
  readonly isTTY = true;
  isRaw = false;
  isRead = false;

  setRawMode(isRaw: boolean): void {
    this.isRaw = isRaw;
  }

  setEncoding(): this {
    return this;
  }

  resume(): void {
    this.isRead = true;
  }

  pause(): void {
    this.isRead = false;
  }
}

class Display extends EventEmitter {
  rows = 4;
  columns = 20;
  written = "";

  write(text: string): boolean {
    this.written += text;
    return true;
  }

  /** What was written since the last time. */
  take(): string {
    const { written } = this;
    this.written = "";
    return written;
  }
}

function open() {
  const keyboard = new Keyboard();
  const display = new Display();
  const calls: string[] = [];
  const screen = new Screen({
    input: keyboard as unknown as ReadStream,
    output: display as unknown as WriteStream,
    quit: () => void calls.push("quit"),
    resized: () => void calls.push("resized"),
  });
  return { keyboard, display, calls, screen };
}

const line = (row: number, text: string) => `\u001b[${row};1H\u001b[2K${text}`;
const frame = (...lines: readonly string[]) => `\u001b[?2026h${lines.join("")}\u001b[?2026l`;

test("only lines that changed are written, in one synchronized update", () => {
  const { display, screen } = open();
  display.take();
  screen.draw(["one", "two", "three"]);
  expect(display.take()).toBe(frame(line(1, "one"), line(2, "two"), line(3, "three")));
  screen.draw(["one", "2"]);
  expect(display.take()).toBe(frame(line(2, "2"), line(3, "")));
  screen.draw(["one", "2"]);
  expect(display.take()).toBe("");
  screen.close();
});

test("what does not fit is counted", () => {
  const { display, screen } = open();
  screen.draw(["1", "2", "3", "4", "5", "6"]);
  expect(display.take()).toContain(line(4, "… 3 more lines"));
  screen.close();
});

test("another size draws everything again", () => {
  const { display, screen, calls } = open();
  screen.draw(["one"]);
  display.take();
  display.emit("resize");
  expect(calls).toEqual(["resized"]);
  screen.draw(["one"]);
  expect(display.take()).toBe(`\u001b[2J${frame(line(1, "one"))}`);
  screen.close();
});

test.each(["q", "Q", "\u001b", "\u0003"])("the key %j ends it, others do not", (key) => {
  const { keyboard, calls, screen } = open();
  for (const typed of ["x", "\u001b[A", key]) keyboard.emit("data", typed);
  expect(calls).toEqual(["quit"]);
  screen.close();
});

test("at the end the terminal is as it was, and nothing listens any more", () => {
  const listeners = process.listenerCount("exit");
  const { keyboard, display, screen } = open();
  expect(keyboard).toMatchObject({ isRaw: true, isRead: true });
  expect(display.take()).toContain("\u001b[?1049h");
  screen.close();
  screen.close();
  expect(display.take()).toBe("\u001b[?7h\u001b[?25h\u001b[?1049l");
  expect(keyboard).toMatchObject({ isRaw: false, isRead: false });
  expect([keyboard.listenerCount("data"), display.listenerCount("resize")]).toEqual([0, 0]);
  expect(process.listenerCount("exit")).toBe(listeners);
});
