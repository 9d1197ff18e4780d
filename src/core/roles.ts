/**
 * What a role may do. Every call is one action, and the roles of its caller say whether it is
 * allowed before anything is read or decided. Policies narrow it further for jobs.
 */
import { RollcallError } from "./errors.ts";
import type { Principal, Role } from "./principals.ts";

/** Everything that a caller can ask for. */
export const ACTIONS = [
  "agent.read",
  "agent.register",
  "agent.heartbeat",
  "agent.deregister",
  "lease.read",
  "lease.acquire",
  "lease.renew",
  "lease.release",
  "election.read",
  "election.campaign",
  "election.resign",
  "policy.read",
  "policy.check",
  "policy.set",
  "policy.delete",
  "token.read",
  "token.create",
  "token.revoke",
  "task.read",
  "task.create",
  "task.cancel",
  "task.claim",
  "task.renew",
  "task.complete",
  "task.fail",
  "fleet.read",
  "fleet.report",
  "fleet.dismiss",
  "question.read",
  "question.dismiss",
  "job.read",
  "job.submit",
  "directory.read",
  "directory.add",
  "directory.verify",
  "directory.remove",
  "event.read",
  "daemon.read",
  "mcp.use",
] as const;

export type Action = (typeof ACTIONS)[number];

/** The nouns of an agent's own work. */
const WORK = ["agent", "lease", "election", "task"];

function isRead(action: Action): boolean {
  return (action.endsWith(".read") && action !== "token.read") || action === "policy.check";
}

/** The rules themselves: an operator that could change them would be an admin. */
const RULES: readonly Action[] = ["policy.set", "policy.delete", "token.create", "token.revoke"];

const MAY: Readonly<Record<Role, (action: Action) => boolean>> = {
  viewer: isRead,
  agent: (action) =>
    isRead(action) ||
    WORK.includes(action.slice(0, action.indexOf("."))) ||
    ["fleet.report", "job.submit", "directory.add", "mcp.use"].includes(action),
  outpost: (action) => action === "fleet.report" || action === "daemon.read",
  operator: (action) => !RULES.includes(action),
  admin: () => true,
};

export function mayDo({ roles }: Principal, action: Action): boolean {
  return roles.some((role) => MAY[role](action));
}

/** Throws where none of its roles allows it. */
export function permit(principal: Principal, action: Action): void {
  if (mayDo(principal, action)) return;
  const { name, roles } = principal;
  throw new RollcallError("PERMISSION_DENIED", `${name} (${roles.join(", ")}) may not ${action}`);
}
