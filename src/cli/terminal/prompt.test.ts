import { describe, expect, test } from "vitest";
import { person } from "../../../test/support/cli/person.ts";
import { askSecret, confirm } from "./prompt.ts";

describe("a secret", () => {
  test.each([
    [["abc\r"], "abc"],
    [["a", "b", "\u007f", "c", "\n"], "ac"],
    [["wrong\u0015right\r"], "right"],
    [["\u001b[200~pasted\u001b[201~\r"], "pasted"],
    [["\r"], ""],
    [["half\u0004"], "half"],
  ])("typed as %j is %j, and never shown", async (chunks, secret) => {
    const { context, shown, state, type } = person();
    const asked = askSecret(context, "Token:");
    await type(...chunks);
    expect(await asked).toBe(secret);
    expect(shown).toEqual(["Token: ", "\n"]);
    expect(state.isListened).toBe(false);
  });

  test("is not waited for after Ctrl-C", async () => {
    const { context, state, interruption, type } = person();
    const asked = askSecret(context, "Token:");
    await type("x");
    interruption.abort();
    await expect(asked).rejects.toThrow("interrupted");
    expect(state.isListened).toBe(false);
  });
});

test.each([
  ["y", true],
  ["y\r", true],
  ["Y\n", true],
  ["n", false],
  ["\r", false],
])("a question answered with %j is %s", async (key, isYes) => {
  const { context, type } = person();
  const asked = confirm(context, "Pin it?");
  await type(key);
  expect(await asked).toBe(isYes);
});
