import { array, assert, integer, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { beyondShare, Holdings, holdingOf, shareOf } from "./shares.ts";

const LIMIT = 100;

function share(owner: string, own: number, others: number): number {
  return shareOf({ owner, limit: LIMIT, own, total: own + others });
}

describe("a share", () => {
  test("is all of it for the user that runs the daemon, while nobody else has any", () => {
    expect(share("local", 99, 0)).toBe(100);
    expect(share("local", 99, 1)).toBe(50);
  });

  test("is half of what the others leave for everybody else", () => {
    expect(share("token:ci", 0, 0)).toBe(50);
    expect(share("token:ci", 0, 50)).toBe(25);
    expect(share("token:ci", 0, 99)).toBe(1);
    expect(share("token:ci", 0, 100)).toBe(0);
  });

  test("is told with the limit and its principal", () => {
    const holdings = new Holdings();
    holdings.add("token:ci", 50);
    const wish = { ...holdingOf(holdings, "token:ci"), limit: LIMIT, noun: "agents" };
    expect(beyondShare(wish)).toMatchObject({
      code: "LIMIT_EXCEEDED",
      reason: "token:ci already has 50 agents: its share of the limit 100 is 50",
    });
    expect(beyondShare({ ...holdingOf(holdings, "local"), limit: LIMIT, noun: "agents" })).toBe(
      undefined,
    );
  });
});

test("all that principals are given stays within the limit, and leaves room for one more", () => {
  const wishes = array(
    record({ who: integer({ min: 1, max: 6 }), more: integer({ min: 1, max: 40 }) }),
  );
  assert(
    property(wishes, (asked) => {
      const holdings = new Holdings();
      for (const { who, more } of asked) {
        const owner = `user:${who}`;
        const wish = { ...holdingOf(holdings, owner), limit: LIMIT, noun: "agents", more };
        if (!beyondShare(wish)) holdings.add(owner, more);
      }
      expect(holdings.total).toBeLessThan(LIMIT);
      expect(share("user:new", 0, holdings.total)).toBeGreaterThan(0);
      for (const [owner, own] of holdings) {
        holdings.remove(owner, own);
        expect(holdings.of(owner)).toBe(0);
      }
      expect(holdings.total).toBe(0);
    }),
  );
});
