import { expect, test } from "vitest";
import { Output, type Sink } from "./output.ts";
import { Screen } from "./screen.ts";

const ESC = "\u001b";

function terminal(columns = 20, rows = 3) {
  const written: string[] = [];
  const sink = {
    isTTY: true,
    columns,
    rows,
    write: (text: string, done?: () => void) => {
      written.push(text);
      done?.();
      return true;
    },
  } satisfies Sink;
  return { written, sink, output: new Output(sink, {}) };
}

test("a frame goes over the last one without clearing the screen", async () => {
  const { written, output } = terminal();
  await using screen = new Screen(output);
  await screen.draw(["one", "two"]);
  await screen.draw(["three"]);
  const begin = `${ESC}[?2026h${ESC}[H`;
  const end = `${ESC}[J${ESC}[?2026l`;
  expect(written).toEqual([
    `${ESC}[?1049h${ESC}[?25l${begin}one${ESC}[K\r\ntwo${ESC}[K${end}`,
    `${begin}three${ESC}[K${end}`,
  ]);
  expect(written.join("")).not.toContain(`${ESC}[2J`);
});

test("what is shown already is not written again, unless the size is another", async () => {
  const { written, sink, output } = terminal();
  await using screen = new Screen(output);
  await screen.draw(["same"]);
  await screen.draw(["same"]);
  expect(written).toHaveLength(1);
  sink.columns = 30;
  await screen.draw(["same"]);
  expect(written).toHaveLength(2);
});

test("lines below the end of the screen would scroll it: they are left out", async () => {
  const { written, output } = terminal(20, 2);
  await using screen = new Screen(output);
  await screen.draw(["1", "2", "3"]);
  expect(written[0]).toContain(`2${ESC}[K${ESC}[J`);
  expect(written[0]).not.toContain("3");
});

test("closing brings back the cursor and what was there before, once", async () => {
  const { written, output } = terminal();
  const unused = new Screen(output);
  await unused.close();
  expect(written).toEqual([]);
  const screen = new Screen(output);
  await screen.draw(["x"]);
  await screen.close();
  await screen.close();
  expect(written.slice(1)).toEqual([`${ESC}[?25h${ESC}[?1049l`]);
});
