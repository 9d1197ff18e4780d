import { describe, expect, test } from "vitest";
import { boundLease } from "../core/jobs/lease-subset.ts";
import { parseLease, type JobLease, type LeaseRequest } from "../core/jobs/lease.ts";
import { evolvePolicy, type Policy } from "../core/policies.ts";
import { emptyState, type State } from "../core/state.ts";
import { policyAuthorizer } from "./entitlement.ts";
import { testJob } from "../../test/support/jobs/fixture.ts";

type Rule = readonly [effect: "allow" | "deny", subject: string, action: string, resource: string];

function set(state: State, rules: readonly Rule[]): void {
  for (const [i, [effect, subject, action, resource]] of rules.entries()) {
    const policy: Policy = { id: `p${i}`, effect, subject, action, resource };
    evolvePolicy(state, { type: "policy.set", policy });
  }
}

function parsedLease(asked: LeaseRequest = {}): JobLease {
  const parsed = parseLease(asked);
  if (!parsed.ok) throw new Error(parsed.reason);
  return parsed.lease;
}

/** The outcome of a submit of `local`: the granted lease, or the refusal. */
function submit(rules: readonly Rule[], asked: LeaseRequest = {}, agent = "echo@1.0.0"): unknown {
  const state = emptyState();
  set(state, rules);
  const lease = parsedLease(asked);
  const authorizer = policyAuthorizer({ engine: { peek: (select) => select(state) } });
  try {
    const question = {
      principal: "local",
      roles: ["agent"],
      agent,
      lease,
      parent: undefined,
    } as const;
    const entitled = authorizer.entitle?.(question);
    if (!entitled || entitled instanceof Promise) return lease.granted;
    const bounded = boundLease(lease, entitled);
    return bounded.ok ? bounded.lease.granted : `${bounded.code}: ${bounded.reason}`;
  } catch (error) {
    return (error as Error).message;
  }
}

describe("who may submit to which agent", () => {
  test("everybody, as long as no policy speaks of it", () => {
    expect(submit([])).toEqual({});
    expect(submit([["allow", "agent:*", "*", "tool:*"]])).toEqual({});
  });

  test("once one does, only who is allowed", () => {
    const only: Rule = ["allow", "alice", "job.submit", "agent:echo"];
    expect(submit([only])).toBe(
      "local may not submit to echo@1.0.0: no matching policy for local to job.submit " +
        "agent:echo: denied by default",
    );
    expect(submit([only, ["allow", "local", "job.submit", "agent:echo"]])).toEqual({});
    expect(submit([only, ["allow", "*", "job.submit", "agent:echo@1.*"]])).toEqual({});
    expect(submit([only, ["allow", "*", "job.submit", "agent:echo@2.*"]])).toContain("may not");
  });

  test.each([
    ["job.*", "agent:*"],
    ["*", "*"],
    ["*", "agent:echo"],
    ["job.*", "*:echo"],
  ])("one that names submitting by a pattern is the start of the list, too: %s %s", (...about) => {
    const rules: Rule[] = [["allow", "alice", ...about]];
    expect(submit(rules)).toContain("local may not submit to echo@1.0.0");
    expect(submit([...rules, ["allow", "local", ...about]])).toEqual({});
  });

  test("a denial alone denies that, and nothing else", () => {
    const rules: Rule[] = [["deny", "local", "job.submit", "agent:echo"]];
    expect(submit(rules)).toContain('denied by policy "p0"');
    expect(submit(rules, {}, "other")).toEqual({});
  });

  test("a denial beats every allowance, and is named", () => {
    const rules: Rule[] = [
      ["allow", "local", "job.submit", "*"],
      ["deny", "*", "job.*", "agent:echo@1.0.0"],
    ];
    expect(submit(rules)).toBe('local may not submit to echo@1.0.0: denied by policy "p1"');
    expect(submit(rules, {}, "echo@1.0.1")).toEqual({});
  });
});

describe("what bounds the lease", () => {
  const files: Rule = ["allow", "local", "fs.read", "/data/*"];

  test("what is allowed may be asked for, and no more", () => {
    expect(submit([files], { "fs.read": ["/data/a/**"] })).toEqual({ "fs.read": ["/data/a/**"] });
    expect(submit([files], { "fs.read": ["/data/**", "/etc/*"] })).toMatch(
      /^PERMISSION_DENIED: fs.read asks for more than is granted, for example "\/etc/,
    );
    // No policy names tools.
    expect(submit([files], { "tool.call": ["grep"] })).toEqual({ "tool.call": ["grep"] });
  });

  test("what is allowed to others only is allowed to nobody else", () => {
    const rules: Rule[] = [["allow", "alice", "fs.read", "/data/*"]];
    expect(submit(rules, { "fs.read": ["/data/a"] })).toContain("not granted at all");
  });

  test("a namespace that is allowed by a pattern is bounded, too", () => {
    const rules: Rule[] = [["allow", "local", "fs.*", "/data/*"]];
    expect(submit(rules, { "fs.read": ["/data/a"] })).toEqual({ "fs.read": ["/data/a"] });
    expect(submit(rules, { "fs.write": ["/etc/a"] })).toContain("asks for more than is granted");
    expect(submit(rules, { "tool.call": ["grep"] })).toEqual({ "tool.call": ["grep"] });
    const others: Rule[] = [["allow", "alice", "fs.*", "/data/*"]];
    expect(submit(others, { "fs.read": ["/data/a"] })).toContain("not granted at all");
  });

  test("what is denied cannot be requested, not even as a part", () => {
    const rules: Rule[] = [["deny", "*", "fs.*", "/data/secret/*"]];
    expect(submit(rules, { "fs.read": ["/data/**"] })).toBe(
      'PERMISSION_DENIED: fs.read "/data/**" includes what policy denies',
    );
    expect(submit(rules, { "fs.read": ["/data/open/**"] })).toEqual({
      "fs.read": ["/data/open/**"],
    });
  });

  test("a budget has a most, which leaving it out does not get around", () => {
    const rules: Rule[] = [
      ["allow", "local", "cost.budget", "USD:5"],
      ["allow", "*", "cost.budget", "USD:2"],
    ];
    expect(submit(rules, { "cost.budget": ["USD:3"] })).toEqual({ "cost.budget": ["USD:3"] });
    expect(submit(rules)).toEqual({ "cost.budget": ["USD:5"] });
    expect(submit(rules, { "cost.budget": ["USD:6"] })).toBe(
      "PERMISSION_DENIED: cost.budget asks for more USD than is allowed",
    );
    expect(submit([["allow", "local", "cost.*", "USD:5"]])).toEqual({ "cost.budget": ["USD:5"] });
  });
});

test("policies that change count at once", () => {
  const state = emptyState();
  const authorizer = policyAuthorizer({ engine: { peek: (select) => select(state) } });
  const lease = parsedLease();
  const ask = () =>
    authorizer.entitle?.({
      principal: "local",
      roles: [],
      agent: "echo",
      lease,
      parent: undefined,
    });
  expect(ask()).toBeUndefined();
  set(state, [["deny", "local", "job.submit", "agent:echo"]]);
  expect(ask).toThrow("denied by policy");
  evolvePolicy(state, { type: "policy.deleted", id: "p0" });
  expect(ask()).toBeUndefined();
});

test("who may follow the jobs of others is allowed to by name", () => {
  const state = emptyState();
  const authorizer = policyAuthorizer({ engine: { peek: (select) => select(state) } });
  expect(authorizer.maySee?.("alice", testJob())).toBe(false);
  set(state, [["allow", "alice", "job.watch", "agent:echo"]]);
  expect(authorizer.maySee?.("alice", testJob())).toBe(true);
  expect(authorizer.maySee?.("bob", testJob())).toBe(false);
  set(state, [["deny", "*", "*", "agent:echo"]]);
  expect(authorizer.maySee?.("alice", testJob())).toBe(false);
});

test.each(["*", "job.*"])("an allowance of %s lets nobody follow the jobs of others", (action) => {
  const state = emptyState();
  const authorizer = policyAuthorizer({ engine: { peek: (select) => select(state) } });
  set(state, [["allow", "*", action, "*"]]);
  expect(authorizer.maySee?.("alice", testJob())).toBe(false);
});

test("a denial to a role counts, of an agent and of its versions; an allowance does not", () => {
  const denied = /^local may not submit to echo@1.0.0: denied by policy/;
  expect(submit([["deny", "role:agent", "job.submit", "agent:echo"]])).toMatch(denied);
  expect(submit([["deny", "role:agent", "job.*", "agent:echo@1.0.0"]])).toMatch(denied);
  expect(submit([["deny", "role:viewer", "job.submit", "agent:echo"]])).toEqual({});
  const others: Rule = ["allow", "alice", "job.submit", "agent:echo"];
  const role: Rule = ["allow", "role:agent", "job.submit", "agent:echo"];
  expect(submit([others, role])).toMatch(/^local may not submit/);
});

test("a denial to a role bounds the lease; an allowance does not widen it", () => {
  const denied: Rule = ["deny", "role:agent", "fs.write", "*"];
  const asked = { "fs.write": ["/**"] };
  const refusal = 'PERMISSION_DENIED: fs.write "/**" includes what policy denies';
  expect(submit([denied], asked)).toBe(refusal);
  expect(submit([["allow", "local", "fs.write", "*"], denied], asked)).toBe(refusal);
  expect(submit([["deny", "role:viewer", "fs.write", "*"]], asked)).toEqual(asked);
  const others: Rule = ["allow", "alice", "fs.write", "*"];
  const role: Rule = ["allow", "role:agent", "fs.write", "*"];
  expect(submit([others, role], asked)).toContain("not granted at all");
});

test("a denial to a role keeps its callers from following the jobs of others", () => {
  const state = emptyState();
  const authorizer = policyAuthorizer({ engine: { peek: (select) => select(state) } });
  const allowed: Rule = ["allow", "alice", "job.watch", "agent:echo"];
  set(state, [allowed, ["deny", "role:agent", "job.*", "agent:echo"]]);
  expect(authorizer.maySee?.("alice", testJob(), ["agent"])).toBe(false);
  expect(authorizer.maySee?.("alice", testJob(), ["outpost"])).toBe(true);
});
