import { expect, test } from "vitest";
import { diffCards } from "./diff.ts";
import { DIFF } from "../../core/card-limits.ts";
import { cardFrom } from "../../../test/support/cards/fixture.ts";

const BASE = { name: "a", url: "http://a.example", skills: [{ id: "s1", name: "S", tags: ["x"] }] };

test("cards that mean the same do not differ, however they are written", () => {
  const spread = JSON.stringify(BASE, null, 2).replace('"name": "a"', '"name": "\\u0061"');
  expect(diffCards(cardFrom(BASE), cardFrom(spread))).toEqual({ changes: [], more: 0 });
});

test("a change is told by its place, with what was there and what is there now", () => {
  const skill = { id: "s1", name: "T", tags: ["x", "y"] };
  const after = { ...BASE, name: "b", description: "new", skills: [skill] };
  expect(diffCards(cardFrom(BASE), cardFrom(after)).changes).toEqual([
    { path: "name", before: '"a"', after: '"b"' },
    { path: "skills[s1].name", before: '"S"', after: '"T"' },
    { path: "skills[s1].tags[1]", after: '"y"' },
    { path: "description", after: '"new"' },
  ]);
});

test("a skill put in front of the others is one change", () => {
  const after = { ...BASE, skills: [{ id: "s0", name: "N" }, ...BASE.skills] };
  expect(diffCards(cardFrom(BASE), cardFrom(after)).changes).toEqual([
    { path: "skills[s0]", after: '{"id":"s0","name":"N"}' },
  ]);
});

test("skills of one name are compared by their place", () => {
  const twice = { ...BASE, skills: [...BASE.skills, ...BASE.skills] };
  const paths = diffCards(cardFrom(BASE), cardFrom(twice)).changes.map((change) => change.path);
  expect(paths).toEqual(["skills[s1]", "skills[0]", "skills[1]"]);
});

test("a card full of changes is told in part, and how much is left", () => {
  const fields = Array.from({ length: 100 }, (_, i) => [`f${i}`, i]);
  const after = { ...BASE, ...(Object.fromEntries(fields) as object) };
  const { changes, more } = diffCards(cardFrom(BASE), cardFrom(after));
  expect(changes).toHaveLength(DIFF.changes);
  expect(more).toBe(100 - DIFF.changes);
});

test("values are short and hold nothing a terminal would act on", () => {
  const after = { ...BASE, name: "\u001b[31m\u202eevil\u200b", iconUrl: "x".repeat(60_000) };
  const { changes } = diffCards(cardFrom(BASE), cardFrom({ ...after, ["\u001b]0;t\u0007f"]: 1 }));
  expect(changes.map((change) => change.path)).toEqual(["name", "iconUrl", "f"]);
  const shown = changes.map((change) => change.after ?? "");
  expect(shown[0]).toBe('"\\u001b[31mevil"');
  expect(shown.every((each) => each.length <= DIFF.valueLength)).toBe(true);
});
