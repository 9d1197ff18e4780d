import { describe, expect, test } from "vitest";
import { factLines, tableLines, type Cell, type Column } from "./table.ts";
import { widthOf } from "./width.ts";

const COLUMNS: readonly Column[] = [
  { title: "ID" },
  { title: "NAME", least: 6 },
  { title: "N", isNumber: true },
  { title: "NOTES", least: 8, isExtra: true },
];

const ROWS: readonly (readonly Cell[])[] = [
  ["a1", "short", "7", "a few words"],
  ["b2", "日本語エージェント", "1234", ""],
];

function table(width: number, rows = ROWS): string[] {
  return tableLines(COLUMNS, rows, { width, paint: (_style, text) => text });
}

describe("a table", () => {
  test("is as wide as what is in it, wide characters counted as they are shown", () => {
    expect(table(Infinity)).toEqual([
      "ID  NAME                   N  NOTES",
      "a1  short                  7  a few words",
      "b2  日本語エージェント  1234",
    ]);
  });

  test("cuts the widest column that may be cut, down to its least", () => {
    expect(table(36)).toEqual([
      "ID  NAME              N  NOTES",
      "a1  short             7  a few words",
      "b2  日本語エージ…  1234",
    ]);
    expect(table(26)).toEqual([
      "ID  NAME       N  NOTES",
      "a1  short      7  a few w…",
      "b2  日本…   1234",
    ]);
  });

  test("keeps the end of what says more at its end", () => {
    const columns: readonly Column[] = [{ title: "PATH", least: 6, cut: "start" }];
    const look = { width: 9, paint: (_style: string, text: string) => text };
    expect(tableLines(columns, [["/a/long/path"]], look)).toEqual(["PATH", "…ong/path"]);
  });

  test("then does without what is extra, and gives its room to the others", () => {
    expect(table(25)).toEqual([
      "ID  NAME                N",
      "a1  short               7",
      "b2  日本語エージェ…  1234",
    ]);
  });

  test("has no column that says nothing, if it is extra", () => {
    expect(table(80, [["a1", "", "1", ""]])).toEqual(["ID  NAME  N", "a1        1"]);
  });

  test("is never wider than the terminal, however narrow that is", () => {
    for (let width = 1; width < 60; width += 1) {
      for (const line of table(width)) expect(widthOf(line)).toBeLessThanOrEqual(width);
    }
  });

  test("shows what agents say as text and nothing else", () => {
    const evil = "\u001b[2J\u202Eone\ntwo";
    const lines = tableLines([{ title: "A" }], [[evil]], { width: 80, paint: (_, text) => text });
    expect(lines).toEqual(["A", "one two"]);
  });

  test("is coloured without losing its shape", () => {
    const paint = (style: string, text: string) => `<${style}>${text}</>`;
    const rows: Cell[][] = [[{ text: "a", style: "red" }, "b"]];
    const columns = [{ title: "ONE" }, { title: "TWO" }];
    expect(tableLines(columns, rows, { width: 80, paint })).toEqual([
      "<dim>ONE</>  <dim>TWO</>",
      "<red>a  </>  b",
    ]);
  });
});

test("facts stand below each other, and what is empty is left out", () => {
  const look = { width: 80, paint: (_style: string, text: string) => text };
  const facts = [
    ["id", "x"],
    ["version", ""],
    ["status", { text: "alive", style: "green" }],
  ] as const;
  expect(factLines(facts, look)).toEqual(["id      x", "status  alive"]);
  const long = [["question", `${"may I ".repeat(6)}go on?`]] as const;
  expect(factLines(long, { ...look, width: 44 })).toEqual([
    `question  ${"may I ".repeat(5)}may\n          I go on?`,
  ]);
});
