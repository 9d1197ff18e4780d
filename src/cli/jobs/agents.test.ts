import { expect, test } from "vitest";
import { jobAgent } from "./agents.ts";

const AGENTS = [
  { name: "echo", versions: [] },
  { name: "indexer", versions: ["1.0.0", "2.1.0"], default: "2.1.0" },
];

test.each([
  ["echo", "echo"],
  ["index", "indexer"],
  ["indexer@1.0.0", "indexer@1.0.0"],
  ["index@1.0.0", "indexer@1.0.0"],
])("%s is the agent %s", (given, name) => {
  expect(jobAgent(AGENTS, given)).toBe(name);
});

test.each([
  ["ehco", "no agent ehco that takes jobs; did you mean echo?"],
  ["web-1", "no agent web-1 that takes jobs; there are echo, indexer"],
])("%s is refused: %s", (given, reason) => {
  expect(() => jobAgent(AGENTS, given)).toThrow(reason);
});

test("where none takes jobs, the way to add one is told", () => {
  expect(() => jobAgent([], "echo")).toThrow("[agents.NAME] in the daemon's config file adds one");
});
