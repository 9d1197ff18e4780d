import { expect, test } from "vitest";
import { documentText } from "./document.ts";
import { Documents } from "./documents.ts";
import { SEARCH } from "./limits.ts";
import { document } from "../../test/support/search/fixture.ts";

const EVERYBODY = { query: "", tools: [], limit: 100 };

function vector(...values: number[]): Float32Array {
  return new Float32Array(values);
}

test("a document is the name, description, capabilities and tools of a card", () => {
  const capabilities = [{ name: "ocr", description: "reads scans" }];
  const text = documentText(
    document("clerk", { description: "Books", capabilities, tools: ["a", "b"] }),
  );
  expect(text).toBe("clerk\nBooks\nocr: reads scans\na b");
});

test("of a card that says too much only the beginning counts", () => {
  const description = "word ".repeat(SEARCH.textLength);
  expect(documentText(document("chatty", { description }))).toHaveLength(SEARCH.textLength);
});

test("the nearest vector comes first, and a rare word in common decides between near ones", () => {
  const documents = new Documents();
  for (const name of ["north", "east", "north-2"]) documents.add(document(name));
  documents.setVector("north", vector(1, 0));
  documents.setVector("east", vector(0, 1));
  documents.setVector("north-2", vector(0.999, 0.04));
  const ask = (query: string) => documents.rank({ ...EVERYBODY, query, vector: vector(1, 0) });
  expect(ask("up")).toEqual(["north", "north-2", "east"]);
  expect(ask("NORTH-2")).toEqual(["north-2", "north", "east"]);
});

test("a word is worth less the more documents have it, and the longer they are", () => {
  const documents = new Documents();
  documents.add(document("one", { description: "common rare" }));
  documents.add(document("two", { description: "common words that make this one a lot longer" }));
  documents.add(document("three", { description: "common" }));
  expect(documents.rank({ ...EVERYBODY, query: "rare common" })).toEqual(["one", "three", "two"]);
});

test("only the living that have all tools are found", () => {
  const documents = new Documents();
  documents.add(document("both", { tools: ["sql", "git"] }));
  documents.add(document("sql", { tools: ["sql"] }));
  documents.add(document("away", { tools: ["git", "sql"] }));
  documents.setAlive("away", false);
  const ask = (...tools: string[]) => documents.rank({ ...EVERYBODY, tools });
  expect(ask("sql")).toEqual(["both", "sql"]);
  expect(ask("sql", "git")).toEqual(["both"]);
  expect(ask("sql", "Git")).toEqual([]);
  documents.setAlive("away", true);
  expect(ask("git", "sql")).toEqual(["both", "away"]);
});

test("when most are gone the rest move together and are found as before", () => {
  const documents = new Documents();
  const total = 3 * SEARCH.emptySlots;
  for (let i = 0; i < total; i += 1) {
    documents.add(document(`agent-${i}`, { tools: [`tool-${i % 2}`] }));
    documents.setVector(`agent-${i}`, vector(Math.cos(i), Math.sin(i)));
  }
  for (let i = 0; i < total; i += 1) if (i % 10 !== 7) documents.remove(`agent-${i}`);
  documents.add(document("late", { tools: ["tool-1"] }));
  const near = { ...EVERYBODY, limit: 1, vector: vector(Math.cos(1007), Math.sin(1007)) };
  expect(documents.rank({ ...near, query: "1007" })).toEqual(["agent-1007"]);
  expect(documents.rank({ ...EVERYBODY, query: "late", limit: 1 })).toEqual(["late"]);
  expect(documents.rank({ ...EVERYBODY, tools: ["tool-0"] })).toEqual([]);
  const all = { ...EVERYBODY, tools: ["tool-1"], limit: documents.size };
  expect(documents.rank(all)).toHaveLength(documents.size);
});

test("agents that come and go leave nothing behind", () => {
  const documents = new Documents();
  const sizes: number[] = [];
  for (let cycle = 0; cycle < 8; cycle += 1) {
    for (let i = 0; i < 2 * SEARCH.emptySlots; i += 1) {
      const name = `agent-${cycle}-${i}`;
      documents.add(document(name, { tools: [`tool-${i}`], description: `only ${cycle}x${i}` }));
      documents.setVector(name, vector(i, cycle));
    }
    for (let i = 0; i < 2 * SEARCH.emptySlots; i += 1) documents.remove(`agent-${cycle}-${i}`);
    sizes.push(documents.entries);
  }
  expect(documents.size).toBe(0);
  // A slot, two words and a tool for each of those that wait to be packed.
  expect(Math.max(...sizes)).toBeLessThan(5 * SEARCH.emptySlots);
});

test("a document that is added again is another one", () => {
  const documents = new Documents();
  documents.add(document("clerk", { description: "books", tools: ["pen"] }));
  documents.setVector("clerk", vector(1, 0));
  documents.add(document("baker", {}));
  documents.add(document("clerk", { description: "bread", tools: ["oven"] }));
  expect(documents.rank({ ...EVERYBODY, query: "bread" })).toEqual(["clerk", "baker"]);
  expect(documents.rank({ ...EVERYBODY, tools: ["pen"] })).toEqual([]);
  expect(documents.rank({ ...EVERYBODY, tools: ["oven"] })).toEqual(["clerk"]);
});
