import { expect, test } from "vitest";
import { parseArguments, type Syntax } from "./arguments.ts";
import { helpOf, usageOf } from "./usage.ts";

const SYNTAX: Syntax = {
  program: "prog go",
  about: "Goes",
  options: [
    { flag: "--name", kind: "text", isRequired: true, help: "who" },
    { flag: "--colour", kind: "toggle", help: "paint" },
    { flag: "--count", kind: "integer", help: "how many" },
    { flag: "--speed", kind: "number", help: "how fast" },
    { flag: "--mood", kind: "text", choices: ["good", "bad"], help: "how" },
    { flag: "--tag", kind: "many", help: "what else" },
    { flag: "--quiet", kind: "switch", help: "say nothing" },
  ],
  word: "place",
};

function parse(...argv: readonly string[]): unknown {
  const parsed = parseArguments(SYNTAX, argv);
  if (parsed.kind === "wrong") return parsed.problem;
  return parsed.kind === "help" ? "help" : Object.fromEntries(parsed.values);
}

test("flags come in any order, attached or not, shortened, several times", () => {
  expect(
    parse("home", "--na", "ada", "--tag=a", "--count", "-5", "--tag", "b=c", "--no-c"),
  ).toEqual({
    place: "home",
    "--name": "ada",
    "--tag": ["a", "b=c"],
    "--count": -5,
    "--colour": false,
  });
});

test("behind two dashes everything is a word, and a value with spaces is no flag", () => {
  expect(parse("--name", "- x y", "--", "--place")).toEqual({
    "--name": "- x y",
    place: "--place",
  });
});

test.each([
  [["--name"], "argument --name: expected one argument"],
  [["--name", "--quiet"], "argument --name: expected one argument"],
  [["--co", "x"], "ambiguous option: --co could match --colour, --count"],
  [["--count", "1.5"], "argument --count: invalid int value: '1.5'"],
  [
    ["--count", "99999999999999999999"],
    "argument --count: invalid int value: '99999999999999999999'",
  ],
  [["--speed", "fast"], "argument --speed: invalid float value: 'fast'"],
  [["--mood", "it's"], "argument --mood: invalid choice: \"it's\" (choose from 'good', 'bad')"],
  [["--quiet=1"], "argument --quiet: ignored explicit argument '1'"],
  [[], "the following arguments are required: --name, place"],
])("%j: %s", (argv, problem) => {
  expect(parse(...argv)).toBe(problem);
});

test("what has no place is told, not dropped", () => {
  const parsed = parseArguments(SYNTAX, ["--name", "a", "here", "there", "--bogus", "-x"]);
  expect(parsed).toMatchObject({ kind: "arguments", extras: ["there", "--bogus", "-x"] });
});

test("help wins over what is missing", () => {
  expect(parse("--he")).toBe("help");
  expect(parse("-h")).toBe("help");
});

test("the usage fits into 78 columns and names everything", () => {
  expect(usageOf(SYNTAX)).toBe(
    [
      "usage: prog go [-h] --name NAME [--colour | --no-colour] [--count COUNT]",
      "               [--speed SPEED] [--mood {good,bad}] [--tag TAG] [--quiet]",
      "               place",
    ].join("\n"),
  );
  expect(helpOf(SYNTAX)).toContain("\n  --mood {good,bad}      how\n");
});
