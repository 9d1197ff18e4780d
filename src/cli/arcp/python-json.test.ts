import { expect, test } from "vitest";
import { pythonJson } from "./python-json.ts";

test("one line has the spaces that Python's has", () => {
  const value = {
    kind: "log",
    body: { list: [1, "a", null, true, {}], none: [] },
    gone: undefined,
  };
  expect(pythonJson(value)).toBe(
    '{"kind": "log", "body": {"list": [1, "a", null, true, {}], "none": []}}',
  );
});

test("what is not ASCII is escaped, so that no terminal acts on it", () => {
  expect(pythonJson({ ü: "🚀\u001b[31m\u202e\u007f" })).toBe(
    String.raw`{"\u00fc": "\ud83d\ude80\u001b[31m\u202e\u007f"}`,
  );
});

test("indented it is what Python prints with indent=2", () => {
  expect(pythonJson({ a: { b: [1] } }, 2)).toBe('{\n  "a": {\n    "b": [\n      1\n    ]\n  }\n}');
});
