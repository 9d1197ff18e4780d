/**
 * Which shapes a client takes. No two SDKs read the same frames: what one requires the other
 * refuses, and a refused frame hangs or kills its reader. The first frame tells who speaks.
 *
 *   spec   clients that follow the specification
 *   py     the Python SDK: budgets as text, cancelled and timed out are results
 *   ts     the TypeScript SDK: refused submits are job errors, with a job id of their own
 */
export type Profile = "spec" | "py" | "ts";

const BARE_ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export interface FirstFrame {
  readonly type: string;
  readonly id: string;
  /** `payload.capabilities.agents`, as it came. */
  readonly agents: unknown;
}

export function profileOf({ type, id, agents }: FirstFrame): Profile {
  if (type !== "session.hello") return "spec";
  if (id.startsWith("msg_")) return "ts";
  const saysNoAgents = Array.isArray(agents) && agents.length === 0;
  return saysNoAgents && BARE_ULID.test(id) ? "py" : "spec";
}
