import { expect, test } from "vitest";
import { nearest } from "./nearest.ts";

test.each([
  ["wbe-1", ["web-1", "planner"], ["web-1"]],
  ["Web1", ["web-1"], ["web-1"]],
  ["scrapper", ["scraper", "planner"], ["scraper"]],
  ["stop", ["doctor", "hook", "ls"], []],
  ["d", ["stand", "a", "dd"], ["a", "dd"]],
  ["planer", ["plane", "planner", "planet", "plan"], ["plane", "planner", "planet"]],
])("%s among %j looks like %j", (word, others, found) => {
  expect(nearest(word, others)).toEqual(found);
});

test("a crowd is not compared for ever", () => {
  const crowd = Array.from({ length: 20_000 }, (_, i) => `crowd-${i}`);
  expect(nearest("last-one", [...crowd, "last-one!"])).toEqual([]);
});
