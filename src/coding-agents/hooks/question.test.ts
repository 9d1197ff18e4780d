import { describe, expect, test } from "vitest";
import { questionAtEnd, questionOf } from "./question.ts";
import { redact } from "../../core/redact.ts";
import { oneLine } from "../../core/text.ts";

describe("what is asked", () => {
  test("a choice has its options, and says when there is more", () => {
    const input = {
      questions: [
        { question: "Which\n way?", options: [{ label: "left", description: "x" }, "right", 7] },
        { question: "And then?" },
      ],
    };
    expect(questionOf("AskUserQuestion", input)).toEqual({
      kind: "choice",
      text: "Which way? (and 1 more)",
      options: ["left", "right"],
      tool: "AskUserQuestion",
    });
  });

  test("a question without options wants a text", () => {
    expect(questionOf("mcp__form__question", { question: "Your name?" })).toEqual({
      kind: "text",
      text: "Your name?",
      tool: "mcp__form__question",
    });
    expect(questionOf("request_user_input", null)).toMatchObject({ text: "it asks something" });
  });

  test("of a plan only its heading is told", () => {
    const { text } = questionOf("ExitPlanMode", { plan: "# Move the tests\n\n1. secret step" });
    expect(text).toBe('Go on with the plan "Move the tests"?');
  });

  test.each([
    ["Bash", { command: "npm test\nrm -rf x" }, "Bash: npm test rm -rf x"],
    ["Bash", { command: `${"true\n".repeat(100)}rm x` }, `Bash: ${"true ".repeat(100)}rm x`],
    ["Bash", { command: ["git", "push"] }, "Bash: git push"],
    ["Bash", { command: "x".repeat(1500) }, `Bash: ${"x".repeat(999)}…`],
    ["Write", { file_path: "/a/b.ts", content: "s3cret" }, "Write: /a/b.ts"],
    ["WebFetch", { url: "https://u:p@example.org/path?key=s3cret" }, "WebFetch: example.org"],
    ["mcp__db__query", { sql: "s3cret" }, "Use mcp__db__query?"],
  ])("permission for %s with %j is asked as %j", (tool, input, text) => {
    expect(questionOf(tool, input)).toEqual({ kind: "permission", text, tool });
  });

  test.each([
    ["I did it. Shall I go on?", "Shall I go on?"],
    ["First.\n\n**Shall I rename foo_bar?**", "Shall I rename foo_bar?"],
    ["Two ways: a or b?", "a or b?"],
  ])("at the end of %j is the question %j", (message, text) => {
    expect(questionAtEnd(message)).toEqual({ kind: "text", text });
  });

  test("a very long message is looked at only at its end", () => {
    expect(questionAtEnd(`${"(".repeat(5_000_000)} a?`)?.text).toMatch(/^\(+…$/);
  });
});

describe("secrets", () => {
  test.each([
    "curl -H 'Authorization: Bearer abcdef123456'",
    "OPENAI_API_KEY=hunter2 npm start",
    "login --password hunter2",
    'set {"token": "hunter2"}',
    "git clone https://me:hunter2@example.org/x",
    "use sk-proj-abcdefghijklmnopqrstu",
    "gh auth ghp_abcdefghijklmnopqrstu1234",
    "AKIAABCDEFGHIJKLMNOP",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc",
  ])("nothing of the secret in %j is told", (text) => {
    const told = redact(text);
    expect(told).toContain("***");
    expect(told).not.toMatch(/hunter2|abcdef|ABCDEF|eyJz/);
  });

  test("what is no secret stays", () => {
    const text = "rename the token counter, then run npm test -- --reporter dot";
    expect(redact(text)).toBe(text);
  });

  test("a long hostile text takes time in proportion to its length", () => {
    expect(redact("token".repeat(2000) + "=".repeat(2000))).toContain("***");
    expect(redact("a-".repeat(2000))).not.toContain("***");
  });
});

test("a character that needs two halves is never cut in the middle", () => {
  expect(oneLine("😀".repeat(200), 120)).toBe(`${"😀".repeat(119)}…`);
});
