import { expect, test } from "vitest";
import { meant, type Nameable } from "./meant.ts";

function agent(id: string, name: string, isHere = true): Nameable {
  return { id, name, isHere };
}

const ID = "3f2a9c1b5d7e4f60a1b2c3d4e5f60718";

const FLEET: readonly Nameable[] = [
  agent(ID, "web-1"),
  agent("aaaa", "web-2"),
  agent("bbbb", "planner"),
  agent("cccc", "planner", false),
  { ...agent("dddd", "gone", false), aliases: ["file@box:gone"] },
];

function find(word: string): string {
  const found = meant(FLEET, (each) => each, { word, noun: "agent", place: " here" });
  return found.ok ? found.item.id : `${found.code}: ${found.reason}`;
}

test.each([
  ["its id", ID, ID],
  ["the beginning of its id", "3f2", ID],
  ["its name", "web-1", ID],
  ["a part of its name, in any letters", "PLAN", "bbbb"],
  ["an alias", "file@box:gone", "dddd"],
  ["its name, though another with it is gone", "planner", "bbbb"],
  ["its name, when it is gone and alone", "gone", "dddd"],
])("an item is meant by %s", (_how, word, id) => {
  expect(find(word)).toBe(id);
});

test("a word that fits several is refused with a choice", () => {
  expect(find("web")).toBe(
    "INVALID_ARGUMENT: 2 agents may be meant by web: 3f2a9c1b (web-1), aaaa (web-2); give an id",
  );
});

test("a word that fits none is refused, with what it looks like", () => {
  expect(find("wbe-1")).toBe("NOT_FOUND: no agent wbe-1 here; did you mean web-1?");
  expect(find("nobody")).toBe("NOT_FOUND: no agent nobody here");
});

test("one or two letters are no part, as they would hit by accident", () => {
  expect(find("pl")).toBe("NOT_FOUND: no agent pl here");
  expect(find("")).toBe('NOT_FOUND: no agent "" here');
});
