import { expect, test } from "vitest";
import { staticTokens } from "./verifiers.ts";

test("a token is compared whole: no prefix, and no name that every object has", async () => {
  const verify = staticTokens({ "alice-token": "alice", "bob-token": "bob" });
  expect(await verify("bob-token")).toBe("bob");
  for (const token of ["", "bob", "bob-token2", "BOB-TOKEN", "__proto__", "constructor"]) {
    expect(await verify(token)).toBeUndefined();
  }
  expect(() => staticTokens({ "": "nobody" })).toThrow("must not be empty");
});
