/**
 * Authorisation, asked in one place by every door: the access that a call needs is in the table of
 * operations, and for what is no operation in the table below.
 */
import { accessTo, permit, type Access } from "../core/access.ts";
import type { By } from "../core/by.ts";
import type { Policies } from "../core/policies.ts";
import type { AuditedAct } from "../engine/audit.ts";
import type { State } from "../core/state.ts";

/** Throws where the caller may not; the input fills in which resource it is about. */
export type Permit = (by: By, access: Access, input?: object) => void;

/** The engine, as far as it matters here. */
export interface PolicySource {
  peek<T>(select: (state: State) => T): T;
}

/** `onDenied` is told of each denial, before the caller is. */
export function permitBy(engine: PolicySource, onDenied?: OnDenied): Permit {
  return (by, access, input) =>
    engine.peek(({ policies }) => {
      const isExact = input !== undefined && policies.narrowing.size > 0;
      const asked = isExact ? accessTo(access, input) : access;
      try {
        permit(policies, by.principal, asked);
      } catch (error) {
        const { action, resource } = asked;
        // Which one is often in the input, that nobody has read yet.
        const target = resource.includes("{") ? "" : resource;
        onDenied?.({ by, action, target }, error instanceof Error ? error.message : "");
        throw error;
      }
    });
}

/**
 * For what goes on after its caller was let in: the function that it gives back asks again, once a
 * policy has changed since the last time.
 */
export function onPolicyChange(engine: PolicySource, ask: (policies: Policies) => void) {
  const versionOf = ({ policies }: State) => ({ policies, changes: policies.changes });
  let asked = engine.peek(versionOf);
  return (): void => {
    const now = engine.peek(versionOf);
    if (now.policies === asked.policies && now.changes === asked.changes) return;
    ask(now.policies);
    asked = now;
  };
}

type OnDenied = (act: AuditedAct, reason: string) => void;

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
