import { expect, test } from "vitest";
import { normalise } from "./run.ts";
import { PROGRAM } from "./tree.ts";

test.each([
  ["", ""],
  ["events --json", "events --json"],
  ["--url http://x events --json", "events --url http://x --json"],
  ["--url=http://x events", "events --url=http://x"],
  ["--version", "version"],
  ["-V --json", "version --json"],
  ["help events", "events --help"],
  ["help", "--help"],
  ["bogus events", "bogus events"],
  ["--help", "--help"],
])("`rollcall %s` is `rollcall %s`", (typed, meant) => {
  const words = typed.split(" ").filter(Boolean);
  expect(normalise(words, PROGRAM).join(" ")).toBe(meant);
});

test("every command has its module, and its help begins as the overview says", async () => {
  for (const entries of Object.values(PROGRAM.groups)) {
    for (const [name, entry] of Object.entries(entries)) {
      const target = await entry.load();
      expect(`${name}: ${target.brief}`).toBe(`${name}: ${entry.brief}`);
    }
  }
});
