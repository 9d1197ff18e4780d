/**
 * Authorisation, asked in one place by every door: the access that a call needs is in the table of
 * operations, and for what is no operation in the table below.
 */
import { accessTo, permit, type Access } from "../core/access.ts";
import type { Principal } from "../core/principals.ts";
import type { State } from "../core/state.ts";

/** Throws where the caller may not; the input fills in which resource it is about. */
export type Permit = (caller: Principal, access: Access, input?: object) => void;

/** The engine, as far as it matters here. */
export interface PolicySource {
  peek<T>(select: (state: State) => T): T;
}

export function permitBy(engine: PolicySource): Permit {
  return (caller, access, input) =>
    engine.peek(({ policies }) => {
      const isExact = input !== undefined && policies.narrowing.size > 0;
      permit(policies, caller, isExact ? accessTo(access, input) : access);
    });
}

/** The calls that are no operations: streams, sessions and pages. */
export const ACCESS = {
  events: { action: "event.read", resource: "event:*" },
  metrics: { action: "metrics.read", resource: "metrics:*" },
  /** Of an A2A agent: which one is in the body, that most of the time nobody need read. */
  heartbeat: { action: "directory.add", resource: "directory:*" },
  mcp: { action: "mcp.use", resource: "mcp:*" },
  /** An ARCP session: it is there to submit jobs. */
  session: { action: "job.submit", resource: "agent:*" },
  submit: { action: "job.submit", resource: "agent:{agent}" },
  cancel: { action: "job.cancel", resource: "job:{jobId}" },
} as const satisfies Readonly<Record<string, Access>>;
