import { expect, test } from "vitest";
import { expandPath, pathIn, statusFolder, statusPath } from "./folder.ts";

const HOME = "/home/ada";

test.each([
  [{}, "/home/ada/.local/state/agent-status"],
  [{ XDG_STATE_HOME: "/state" }, "/state/agent-status"],
  [{ XDG_STATE_HOME: "" }, "/home/ada/.local/state/agent-status"],
  [{ XDG_STATE_HOME: "~/s" }, "/home/ada/s/agent-status"],
  [{ XDG_STATE_HOME: "/state", AGENT_STATUS_DIR: "~/here/" }, "/home/ada/here"],
])("with %j the files are in %s", (env, folder) => {
  expect(statusFolder({ HOME, ...env })).toBe(folder);
});

test.each([
  ["a//b/./c/", "a/b/c"],
  ["", "."],
  ["./", "."],
  ["/", "/"],
  ["//x", "//x"],
  ["///x", "/x"],
  ["a/../b", "a/../b"],
  ["~", "/home/ada"],
  ["a/~", "a/~"],
])("%j is written as %j", (path, written) => {
  expect(expandPath(path, { HOME })).toBe(written);
});

test("somebody else's home is not guessed", () => {
  expect(() => expandPath("~nobody-here/x", { HOME })).toThrow("~nobody-here");
});

test.each(["", "a/b", "a\\b", ".", "..", "a\0b"])("the id %j is no file name", (id) => {
  expect(() => statusPath(id, "/d")).toThrow("agent_id must be non-empty and filename-safe");
});

test("an id that is too long for a file is refused with the bound", () => {
  expect(statusPath("x".repeat(230), "/d")).toHaveLength(2 + 1 + 230 + 5);
  expect(() => statusPath("é".repeat(116), "/d")).toThrow("232 bytes, at most 230");
});

test("a file in the current folder is called by its name alone", () => {
  expect([pathIn(".", "a.json"), pathIn("/", "a.json"), pathIn("/d", "a.json")]).toEqual([
    "a.json",
    "/a.json",
    "/d/a.json",
  ]);
});
