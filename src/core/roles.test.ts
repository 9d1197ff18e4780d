import { describe, expect, test } from "vitest";
import { ROLES, type Role } from "./principals.ts";
import { ACTIONS, grantOf } from "./roles.ts";

function allowed(...roles: readonly Role[]): readonly string[] {
  return ACTIONS.filter((action) => grantOf(roles, action));
}

describe("a role", () => {
  test("viewer reads everything but tokens and the audit, and changes nothing", () => {
    const hidden = ["token.read", "audit.read"];
    const reads = ACTIONS.filter((each) => each.endsWith(".read") && !hidden.includes(each));
    expect(allowed("viewer")).toEqual(expect.arrayContaining([...reads]));
    const others = allowed("viewer").filter((each) => !each.endsWith(".read"));
    expect(others).toEqual(["policy.check", "mcp.use"]);
    for (const each of hidden) expect(allowed("viewer", "agent")).not.toContain(each);
  });

  test("agent does an agent's work, and is no operator", () => {
    for (const action of ["task.claim", "lease.acquire", "fleet.report", "job.submit"]) {
      expect(allowed("agent")).toContain(action);
    }
    for (const action of ["policy.set", "directory.remove"]) {
      expect(allowed("agent")).not.toContain(action);
    }
  });

  test("outpost reports, and reads nothing of others", () => {
    expect(allowed("outpost")).toEqual(["fleet.report", "outpost.join", "daemon.read"]);
  });

  test("operator does all but make the rules; admin does all", () => {
    expect(ACTIONS.filter((each) => !allowed("operator").includes(each))).toEqual([
      "policy.set",
      "policy.delete",
      "token.create",
      "token.revoke",
    ]);
    expect(allowed("admin")).toEqual([...ACTIONS]);
  });

  test("that is one of several adds what it allows; none allow nothing", () => {
    expect(allowed("outpost", "viewer")).toContain("fleet.report");
    expect(allowed()).toEqual([]);
    expect(new Set(ROLES).size).toBe(ROLES.length);
  });
});
