import { inspect } from "node:util";
import { describe, expect, test } from "vitest";
import { parseAgents } from "./agents-config.ts";

const PLACE = { path: "rollcall.toml", folder: "/etc/rollcall" };

function problem(agents: unknown): string {
  try {
    parseAgents(agents, PLACE);
    return "";
  } catch (error) {
    return (error as Error).message;
  }
}

describe("agents of a file", () => {
  test("are modules and commands, in versions, from where the file is", () => {
    const agents = parseAgents(
      {
        echo: { module: "./echo.mjs" },
        "indexer@2.1.0": { command: ["python", "i.py"], restart: "always", default: true },
        other: { command: ["x"], agent: "real-name", cwd: "sub", env: { TOKEN: "s3cr3t" } },
      },
      PLACE,
    );
    expect(agents).toMatchObject([
      { kind: "module", name: "echo", version: undefined, path: "/etc/rollcall/echo.mjs" },
      {
        kind: "command",
        name: "indexer",
        version: "2.1.0",
        command: ["python", "i.py"],
        agent: "indexer",
        folder: "/etc/rollcall",
        restart: "always",
        isDefault: true,
      },
      { agent: "real-name", folder: "/etc/rollcall/sub", restart: "never", isDefault: false },
    ]);
    expect(inspect(agents, { depth: 9 })).not.toContain("s3cr3t");
    expect(parseAgents(undefined, PLACE)).toEqual([]);
  });

  test.each([
    [[], "agents in rollcall.toml is no table: write [agents.NAME]"],
    [{ "a b": {} }, 'agents.a b in rollcall.toml: not a NAME or a "NAME@VERSION" of an agent'],
    [{ a: "x" }, "agents.a in rollcall.toml: give either a module or a command"],
    [{ a: { module: "x", command: ["y"] } }, "give either a module or a command"],
    [{ a: { module: 1 } }, "module is wrong: expected the path of a module"],
    [{ a: { command: [] } }, "command is wrong: expected a list of texts"],
    [{ a: { command: ["x"], env: { "A-B": "1" } } }, "env is wrong: expected a table of at most"],
    [{ a: { module: "x", restart: "often" } }, "restart is wrong: expected never or always"],
    [{ a: { module: "x", path: "y" } }, "path is not known; there are module, command"],
  ])("%j is refused by name", (agents, why) => {
    expect(problem(agents)).toContain(why);
  });

  test("there are not too many of them", () => {
    const many = Object.fromEntries(Array.from({ length: 257 }, (_, i) => [`a${i}`, {}]));
    expect(problem(many)).toContain("has 257 entries, at most 256");
  });
});
