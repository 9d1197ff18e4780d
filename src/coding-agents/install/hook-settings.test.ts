import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { censusOf, withHooks, withoutHooks, type HookPlan } from "./hook-settings.ts";
import { meaningOf, readJson } from "../../machine/settings/json-edit.ts";

const plan: HookPlan = {
  host: "claude-code",
  events: { SessionStart: 10, Stop: 10 },
  command: "rollcall hook claude-code",
};

const SETTINGS = `{
    // mine
    "model": "opus",
    "hooks": {
        "Stop": [
            { "hooks": [{ "type": "command", "command": "say done" }] } // loud
        ],
    },
    "permissions": { "allow": ["Bash(ls:*)"] }
}
`;

describe("hooks in a settings file", () => {
  test("are added without touching a byte of what is there", () => {
    const after = withHooks(SETTINGS, plan);
    expect(censusOf(after, plan)).toEqual({ current: ["Stop", "SessionStart"], outdated: [] });
    expect(after).toMatchInlineSnapshot(`
      "{
          // mine
          "model": "opus",
          "hooks": {
              "Stop": [
                  { "hooks": [{ "type": "command", "command": "say done" }] }, // loud
                  {
                      "hooks": [
                          {
                              "type": "command",
                              "command": "rollcall hook claude-code",
                              "timeout": 10
                          }
                      ]
                  }
              ],
              "SessionStart": [
                  {
                      "hooks": [
                          {
                              "type": "command",
                              "command": "rollcall hook claude-code",
                              "timeout": 10
                          }
                      ]
                  }
              ],
          },
          "permissions": { "allow": ["Bash(ls:*)"] }
      }
      "
    `);
  });

  test("a second time changes nothing", () => {
    const once = withHooks(SETTINGS, plan);
    expect(withHooks(once, plan)).toBe(once);
  });

  test("of another version are brought up to date where they stand", () => {
    const older = withHooks(SETTINGS, {
      ...plan,
      command: "'/old/node' '/x/rollcall.cjs' hook claude-code",
    });
    expect(censusOf(older, plan)).toEqual({ current: [], outdated: ["Stop", "SessionStart"] });
    expect(withHooks(older, plan)).toBe(withHooks(SETTINGS, plan));
  });

  test("are taken out again, and the file is what it was", () => {
    const noTrailingComma = SETTINGS.replace("],\n    },", "] // all\n    },");
    const trailingCommas = SETTINGS.replace('"] }\n', '"] }, // end\n').replace(
      "} // l",
      "}, // l",
    );
    for (const text of [SETTINGS, noTrailingComma, trailingCommas]) {
      expect(withoutHooks(withHooks(text, plan), "claude-code")).toBe(text);
    }
    expect(withoutHooks(SETTINGS, "claude-code")).toBe(SETTINGS);
  });

  test.each([
    "{\n  // mine\n}\n",
    '{\n  "hooks": {\n    // notes\n  }\n}\n',
    '{\n  "hooks": {\n    "Stop": [\n      // one day\n    ]\n  }\n}\n',
  ])("are taken out and leave the comments of %j", (text) => {
    expect(withoutHooks(withHooks(text, { ...plan, events: { Stop: 10 } }), plan.host)).toBe(text);
  });

  test("that stand before the bracket of a line are taken out, and a comment stays one", () => {
    const hooks = JSON.stringify({ Stop: [{ hooks: [{ command: plan.command }] }] });
    const after = withoutHooks(`{ // mine\n "hooks": ${hooks} }`, plan.host);
    expect(meaningOf(readJson(after))).toEqual({});
    expect(after).toContain("// mine\n");
  });

  test.each([
    ["{}\n"],
    [""],
    ['{"a":1}'],
    ['{ "a": [1, 2] }\n'],
    ['{\r\n\t"a": {}\r\n}\r\n'],
    ['\ufeff{"hooks":{"Stop":[]}}'],
  ])("go into %j", (text) => {
    const after = withHooks(text, plan);
    const before = text.trim() === "" ? {} : meaningOf(readJson(text));
    expect(meaningOf(readJson(after))).toMatchObject({ ...(before as object), hooks: {} });
    expect(censusOf(after, plan).current.toSorted()).toEqual(["SessionStart", "Stop"]);
  });

  test.each([
    ["{ broken", "line 1, column"],
    ['{"a": }', "value expected at line 1, column 7"],
    ["[]", "the whole must be an object"],
    ['{"hooks": 1}', '"hooks" must be an object'],
    ['{"hooks": {"Stop": {}}}', '"hooks"."Stop" must be a list'],
    ["[".repeat(200), "levels deep"],
  ])("are refused by %j", (text, why) => {
    expect(() => withHooks(text, plan)).toThrow(why);
  });

  test("whatever else is in the file, it means the same after them, and again without them", () => {
    const json = fc.dictionary(
      fc.string({ minLength: 1 }).filter((key) => key !== "hooks" && key !== "__proto__"),
      fc.jsonValue(),
      { minKeys: 1 },
    );
    const indent = fc.constantFrom(undefined, "  ", "    ", "\t");
    fc.assert(
      fc.property(json, indent, (value, unit) => {
        const text = JSON.stringify(value, null, unit);
        const after = withHooks(text, plan);
        const { hooks: _, ...rest } = meaningOf(readJson(after)) as Record<string, unknown>;
        expect(JSON.stringify(rest)).toBe(JSON.stringify(value));
        expect(JSON.parse(after)).toHaveProperty("hooks");
        expect(withoutHooks(after, "claude-code")).toBe(text);
      }),
    );
  });
});
