import { expect, test } from "vitest";
import { inputOf, leaseOf, parseBudgetFlag, parseGrant } from "./inputs.ts";

test("an input is JSON where it is JSON, else the text itself", async () => {
  expect(await inputOf('{"hi": 1}')).toEqual({ hi: 1 });
  expect(await inputOf("42")).toBe(42);
  expect(await inputOf("look at /data")).toBe("look at /data");
  expect(await inputOf(undefined)).toBeUndefined();
});

test.each(["{bad", '["a",', '"half', ' {"a": 1,}'])("a slip in JSON is told: %s", async (slip) => {
  await expect(inputOf(slip)).rejects.toThrow(/^INPUT begins like JSON and is not: .*--text$/);
  expect(await inputOf(slip, { isText: true })).toBe(slip);
});

test("grants of one namespace add up, and the budget is one of them", () => {
  const grants = ["fs.read=/data/**", "fs.read=/etc/hosts", '{"net.fetch": ["https://**"]}'];
  expect(leaseOf(grants.map(parseGrant), ["USD:5", "credits:1.5"])).toEqual({
    "fs.read": ["/data/**", "/etc/hosts"],
    "net.fetch": ["https://**"],
    "cost.budget": ["USD:5", "credits:1.5"],
  });
  expect(leaseOf([], [])).toEqual({});
});

test("what is no grant and no amount is refused with an example", () => {
  for (const wrong of ["fs.read", "=/data", "fs.read=", "{", '{"a": "b"}', "{}}"]) {
    expect(() => parseGrant(wrong)).toThrow(/^not /);
  }
  for (const wrong of ["5", "USD", "USD:", "USD:-1", "USD:1e3", ":5"]) {
    expect(() => parseBudgetFlag(wrong)).toThrow(/not CURRENCY:AMOUNT/);
  }
});
