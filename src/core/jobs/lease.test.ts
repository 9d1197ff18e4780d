import { expect, test } from "vitest";
import { openPurse, charge } from "./budget.ts";
import { boundLease, checkSubset, inherited } from "./lease-subset.ts";
import {
  allows,
  authorize,
  checkExpiry,
  parseLease,
  type JobLease,
  type LeaseRequest,
} from "./lease.ts";
import { LEASE } from "./limits.ts";
import { amountOfNumber } from "./decimal.ts";

function lease(request: LeaseRequest, expiresAtMs?: number): JobLease {
  const parsed = parseLease(request, expiresAtMs);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.lease;
}

// "[P] any x-vendor.…; Unknown ⇒ INVALID_REQUEST. Empty array grants nothing."
test("the namespaces are the seven of the protocol and vendors' own", () => {
  const known = ["fs.read", "fs.write", "net.fetch", "tool.call", "agent.delegate", "model.use"];
  for (const name of [...known, "cost.budget", "x-vendor.foo", "x-vendor.acme.gpu"]) {
    expect(parseLease({ [name]: [] })).toMatchObject({ ok: true });
  }
  for (const name of ["foo", "fs", "fs.readx", "x-vendor.", "x-vendor", "x-vendor.A", ""]) {
    expect(parseLease({ [name]: [] })).toMatchObject({ ok: false, code: "INVALID_ARGUMENT" });
  }
  expect(parseLease(JSON.parse('{"__proto__":["x"]}') as LeaseRequest).ok).toBe(false);
  expect(allows(lease({ "fs.read": [] }), "fs.read", "/a")).toBe(false);
  expect(allows(lease({}), "constructor", "/a")).toBe(false);
});

test("a lease has bounds, and each refusal names the namespace", () => {
  const long = parseLease({ "fs.read": [`/${"a".repeat(LEASE.patternLength)}`] });
  expect(long).toMatchObject({
    ok: false,
    reason: "fs.read has a pattern of more than 1024 characters",
  });
  const many = Array.from({ length: LEASE.patterns + 1 }, () => "/a");
  expect(parseLease({ "fs.read": many })).toMatchObject({ ok: false });
  const wide = Array.from({ length: LEASE.namespaces + 1 }, (_, i) => [`x-vendor.n${i}`, []]);
  expect(parseLease(Object.fromEntries(wide) as LeaseRequest)).toMatchObject({ ok: false });
  expect(parseLease({ "fs.read": [""] })).toMatchObject({ ok: false });
  expect(parseLease({ "fs.raed": ["/a"] })).toMatchObject({
    ok: false,
    reason: 'unknown lease namespace "fs.raed"',
  });
  expect(parseLease({ "cost.budget": ["USD5"] })).toMatchObject({ ok: false });
});

test.each([
  ["fs.read", "/a/*", "/a/b/c", false],
  ["fs.read", "/a/**", "/a", true],
  ["fs.read", "/a/**", "/a/../etc/passwd", false],
  ["fs.read", "/a/**", "/a/x/../../a/b", true],
  ["fs.read", "/a/**", "/../a/b", true],
  ["fs.read", "/a/**/z", "/a/z", true],
  ["fs.read", "/a/b", "/a/b/", true],
  ["fs.read", "/a/b", "//a/./b", true],
  ["fs.read", "/a/b/", "/a/b", true],
  ["fs.read", "src/**", "src/../../etc", false],
  ["fs.read", "src/**", "./src/x", true],
  ["fs.read", "/a/**", "/a/\u0000", false],
  ["fs.read", "/a/**", "", false],
  ["net.fetch", "https://*", "https://example.com/x", false],
  ["net.fetch", "https://**", "https://example.com/x", true],
  ["net.fetch", "https://api.example.com/**", "HTTPS://api.example.com/v1", true],
  ["net.fetch", "https://api.example.com/**", "https://API.example.com/v1", true],
  ["net.fetch", "https://API.example.com:443/**", "https://api.example.com/v1#top", true],
  ["net.fetch", "https://api.example.com/**", "https://api.example.com:8443/v1", false],
  ["net.fetch", "https://api.example.com/**", "https://me@api.example.com/v1", false],
  ["net.fetch", "https://api.example.com/**", "https://api.example.com@evil.example/v1", false],
  ["net.fetch", "https://api.example.com/v1/**", "https://api.example.com/v1/%2e%2e/admin", false],
  ["net.fetch", "https://api.example.com/v1/**", String.raw`https://api.example.com\v1\x`, true],
  ["net.fetch", "https://api.example.com/a", "https://api.example.com/%61", true],
  ["net.fetch", "https://api.example.com", "https://api.example.com/", true],
  ["net.fetch", "https://*.example.com/**", "https://a.example.com/x", true],
  ["net.fetch", "https://*.example.com/**", "https://evil.test/.example.com/x", false],
  ["net.fetch", "https://*:443/**", "https://a.example.com/x", true],
  ["net.fetch", "http://127.0.0.1/**", "http://127.1/x", true],
  ["net.fetch", "s3://example/**", "s3://example/key", true],
  ["net.fetch", "**", "mailto:me@example.com", false],
  ["net.fetch", "**", "not a url", false],
  ["tool.call", "a?c", "abc", false],
  ["tool.call", "[ab]c", "ac", false],
  ["tool.call", "search.*", "search.web", true],
  ["tool.call", "mcp:github/*", "mcp:github/issues", true],
  ["model.use", "gpt-4o-*", "gpt-4o-mini", true],
  ["model.use", "tier-fast/*", "tier-fast/a/b", false],
  ["model.use", "tier-fast/*", "tier-fast/cheap", true],
  ["x-vendor.acme.gpu", "*", "0", true],
])("%s %j against %j: %s", (...[namespace, pattern, target, allowed]) => {
  expect(allows(lease({ [namespace]: [pattern] }), namespace, target)).toBe(allowed);
});

// "Canonicalise patterns at submit time too and refuse patterns containing .. segments."
test("patterns are canonical when granted, and none leads up", () => {
  const { granted } = lease({
    "fs.read": ["/data//x/./", "."],
    "net.fetch": ["HTTPS://Example.COM:443/%7euser/./**", "**"],
    "cost.budget": ["USD:2.50"],
  });
  expect(granted).toEqual({
    "fs.read": ["/data/x", "."],
    "net.fetch": ["https://example.com/~user/**", "**"],
    "cost.budget": ["USD:2.50"],
  });
  expect(lease(granted).granted).toEqual(granted);
  for (const up of ["/a/../etc/*", "..", "/a/..", "a/../b"]) {
    expect(parseLease({ "fs.read": [up] })).toMatchObject({ ok: false, code: "INVALID_ARGUMENT" });
  }
  for (const bad of ["https://a/%2E%2e/x", "https://u:p@a/**", "example.com/**", "https:// /"]) {
    expect(parseLease({ "net.fetch": [bad] })).toMatchObject({ ok: false });
  }
});

test("too long a target is not allowed, and costs nothing", () => {
  expect(allows(lease({ "fs.read": ["**"] }), "fs.read", "/".repeat(LEASE.targetLength + 1))).toBe(
    false,
  );
});

// "Report LEASE_EXPIRED > BUDGET_EXHAUSTED > PERMISSION_DENIED"
test("the gravest reason is told first", () => {
  const held = lease({ "tool.call": ["search.*"], "cost.budget": ["USD:1"] }, 1_000);
  const purse = openPurse(held.budget ?? new Map());
  const ask = (target: string, nowMs: number) =>
    authorize(held, { namespace: "tool.call", target, nowMs, purse })?.code;
  expect(ask("search.web", 999)).toBeUndefined();
  expect(ask("shell", 999)).toBe("PERMISSION_DENIED");
  charge(purse, "USD", amountOfNumber(1) ?? 0n);
  expect(ask("shell", 999)).toBe("BUDGET_EXHAUSTED");
  expect(ask("search.web", 999)).toBe("BUDGET_EXHAUSTED");
  expect(ask("search.web", 1_000)).toBe("LEASE_EXPIRED");
});

// "model.use missing from the lease blocks"
test("a namespace that a lease does not have allows nothing", () => {
  const refused = authorize(lease({}), { namespace: "model.use", target: "gpt\u001b", nowMs: 0 });
  expect(refused).toEqual({
    ok: false,
    code: "PERMISSION_DENIED",
    reason: 'the lease does not allow model.use of "gpt "',
  });
});

// "strictly in the future at submit else INVALID_REQUEST"
test("an expiry lies ahead", () => {
  expect(checkExpiry(1_001, 1_000)).toBeUndefined();
  expect(checkExpiry(1_000, 1_000)).toMatchObject({ code: "INVALID_ARGUMENT" });
});

test.each([
  ["fs.read", "/a/**", "/a/*", false],
  ["tool.call", "**", "*", false],
  ["tool.call", "search.web", "search.*", true],
  ["tool.call", "search.a*", "search.*", true],
  ["fs.read", "/a", "/a/**", true],
  ["model.use", "a*c", "a*b*c", false],
  ["net.fetch", "HTTPS://A.example/x", "https://a.example/**", true],
])("a child's %s %j is part of %j: %s", (...[namespace, child, parent, isPart]) => {
  const refused = checkSubset(lease({ [namespace]: [child] }), lease({ [namespace]: [parent] }));
  expect(refused?.code).toBe(isPart ? undefined : "LEASE_SUBSET_VIOLATION");
});

test("a child's refusal shows what its parent does not have", () => {
  const parent = lease({ "fs.read": ["/a/*", "/c"] });
  const because = (request: LeaseRequest) => checkSubset(lease(request), parent)?.reason;
  expect(because({ "fs.read": ["/a/*/b"] })).toMatch(/^fs\.read asks for more .* "\/a\/\/b"$/);
  expect(because({ "fs.write": ["/a"] })).toBe("fs.write is not granted at all");
  expect(because({ "fs.write": [] })).toBeUndefined();
});

// "Budget: per currency child total ≤ parent remaining (not initial)."
test("a child's budget is part of what its parent has left", () => {
  const parent = lease({ "cost.budget": ["USD:5"] });
  const purse = openPurse(parent.budget ?? new Map());
  charge(purse, "USD", amountOfNumber(3) ?? 0n);
  const ask = (...entries: readonly string[]) =>
    checkSubset(lease({ "cost.budget": entries }), parent, purse)?.code;
  expect(ask("USD:2")).toBeUndefined();
  expect(ask("USD:1", "USD:1.01")).toBe("LEASE_SUBSET_VIOLATION");
  expect(ask("EUR:1")).toBe("LEASE_SUBSET_VIOLATION");
  expect(checkSubset(lease({ "cost.budget": ["USD:1"] }), lease({}))?.code).toBe(
    "LEASE_SUBSET_VIOLATION",
  );
});

// "Expiry: child ≤ parent; absent ⇒ inherits."
test("a child lives no longer than its parent", () => {
  const parent = lease({}, 1_000);
  expect(checkSubset(lease({}, 1_001), parent)?.code).toBe("LEASE_SUBSET_VIOLATION");
  expect(checkSubset(lease({}, 1_000), parent)).toBeUndefined();
  expect(checkSubset(lease({}, 5), lease({}))).toBeUndefined();
  expect(checkSubset(lease({}), parent)).toBeUndefined();
  expect(inherited(lease({}), parent).expiresAtMs).toBe(1_000);
});

test("comparing two leases is bounded, whatever is in them", () => {
  const nasty = (n: number) => Array.from({ length: n }, (_, i) => `*${"a*b*".repeat(40)}${i}`);
  const refused = checkSubset(
    lease({ "tool.call": nasty(200) }),
    lease({ "tool.call": nasty(200) }),
  );
  expect(refused).toBeUndefined();
  const other = Array.from({ length: 200 }, (_, i) => `*${"b*a*".repeat(40)}${i}x`);
  expect(checkSubset(lease({ "tool.call": nasty(200) }), lease({ "tool.call": other }))?.code).toBe(
    "LEASE_SUBSET_VIOLATION",
  );
});

const ENTITLED = {
  allowed: lease({ "fs.read": ["/data/**"], "tool.call": ["*"], "cost.budget": ["USD:5"] }, 9_000),
  denied: { "fs.read": ["/data/secret/**"], "tool.call": ["shell.*"] },
} as const;

test("who asks for more than policy allows is refused", () => {
  const ask = (request: LeaseRequest) =>
    boundLease(lease(request), { ...ENTITLED, beyond: "refuse" });
  expect(ask({ "fs.read": ["/data/x/**"] })).toMatchObject({ ok: true });
  expect(ask({ "fs.read": ["/etc/**"] })).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(ask({ "fs.read": ["/data/**"] })).toMatchObject({
    reason: 'fs.read "/data/**" includes what policy denies',
  });
  expect(ask({ "tool.call": ["s*"] })).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(ask({ "net.fetch": ["**"] })).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(ask({ "cost.budget": ["USD:6"] })).toMatchObject({ code: "PERMISSION_DENIED" });
  expect(ask({ "cost.budget": ["EUR:1"] })).toMatchObject({ code: "PERMISSION_DENIED" });
});

test("or gets the part that lies within", () => {
  const request = { "fs.read": ["**", "/etc/x", "/data/secret/a"], "tool.call": ["search.*"] };
  const entitlement = { allowed: ENTITLED.allowed, denied: { "fs.read": ["/data/secret/**"] } };
  const bounded = boundLease(lease(request), { ...entitlement, beyond: "narrow" });
  // The whole of /data would hold what is denied, so nothing of it is left.
  expect(bounded).toMatchObject({
    ok: true,
    lease: { granted: { "fs.read": [], "tool.call": ["search.*"], "cost.budget": ["USD:5"] } },
  });
  const without = boundLease(lease(request), { allowed: ENTITLED.allowed, beyond: "narrow" });
  expect(without).toMatchObject({
    lease: { granted: { "fs.read": ["/data/**", "/data/secret/a"] }, expiresAtMs: 9_000 },
  });
});

test("who leaves its budget or its end out gets the bound", () => {
  const bounded = boundLease(lease({}), { ...ENTITLED, beyond: "refuse" });
  expect(bounded).toMatchObject({
    lease: { granted: { "cost.budget": ["USD:5"] }, expiresAtMs: 9_000 },
  });
  const free = boundLease(lease({ "fs.read": ["**"] }), { beyond: "refuse" });
  expect(free).toMatchObject({ ok: true, lease: { budget: undefined, expiresAtMs: Infinity } });
});
