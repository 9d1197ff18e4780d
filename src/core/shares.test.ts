import { array, assert, integer, property, record } from "fast-check";
import { describe, expect, test } from "vitest";
import { beyondShare, Holdings, isCrowded, shareOf, wishOf } from "./shares.ts";

const LIMIT = 100;
const AGENTS = { limit: LIMIT, noun: "agents" } as const;

function share(owner: string, own: number, others: number): number {
  return shareOf(LIMIT, { owner, own, total: own + others });
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
    expect(beyondShare(AGENTS, wishOf(holdings, "token:ci"))).toMatchObject({
      code: "LIMIT_EXCEEDED",
      reason: "token:ci already has 50 agents: its share of the limit 100 is 50",
    });
    expect(beyondShare(AGENTS, wishOf(holdings, "local"))).toBe(undefined);
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
        if (!beyondShare(AGENTS, wishOf(holdings, owner, more))) holdings.add(owner, more);
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

test("while half of a limit is free nobody is beyond its share", () => {
  const count = integer({ min: 0, max: 60 });
  assert(
    property(count, count, (own, others) => {
      const total = own + others;
      if (!isCrowded(AGENTS, total)) expect(share("user:1", own, others)).toBeGreaterThan(own);
    }),
  );
});
