import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { findToken } from "./token.ts";

const folder = mkdtempSync(join(tmpdir(), "rollcall-token-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, "token");
  writeFileSync(path, text);
  return path;
}

describe("the token of a client", () => {
  test("is that of the file, else of the environment, else none", () => {
    const env = { ROLLCALL_TOKEN: "of-env" };
    expect(findToken(fileWith("of-file\n"), env)).toBe("of-file");
    expect(findToken(undefined, env)).toBe("of-env");
    expect(findToken(undefined, { ROLLCALL_TOKEN: "" })).toBeUndefined();
    expect(findToken(undefined, {})).toBeUndefined();
  });

  test.each(["", " \n", "two words", "line\nbreak", "hé", "x".repeat(8001)])(
    "is one word; %j is refused and not repeated",
    (text) => {
      const find = () => findToken(fileWith(text), {});
      expect(find).toThrow(/^--token-file \S+ (is empty|holds more than one word)/);
      if (text.trim() !== "") expect(find).not.toThrow(text.trim());
    },
  );

  test("is asked for by name where the file is not there", () => {
    const path = join(folder, "none");
    expect(() => findToken(path, { ROLLCALL_TOKEN: "of-env" })).toThrow(
      `--token-file ${path} cannot be read`,
    );
  });
});
