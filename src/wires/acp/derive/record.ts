/**
 * The record of one session, from its frames, in the words of the Agent Status Update proposal.
 *
 * Two layers: `state` is what a person acts on, `status` the five words of the proposal. The record
 * is the one that is published (status file, fleet, `_meta`); its fields are those of the wire
 * profile and a few more.
 */

export const STATUSES = ["thinking", "reading", "writing", "waiting", "idle"] as const;

export type AcpStatus = (typeof STATUSES)[number];

export type AcpState = "starting" | "running" | "waiting" | "idle" | "exited";

/** Which frames speak: our rules, the agent's own status in either form, the state of ACP v2. */
export type AcpSource = "derived" | "agent_status_update" | "meta" | "state_update";

export interface AcpOption {
  readonly id: string;
  readonly name: string;
  /** allow_once, allow_always, reject_once, reject_always, or what a later version adds. */
  readonly kind: string;
}

/** Something a person has to answer in the client. */
export interface AcpQuestion {
  /** Unique within the connection; the same until it is answered. */
  readonly id: string;
  readonly kind: "permission" | "elicitation" | "auth";
  readonly text: string;
  readonly options: readonly AcpOption[];
  /** ISO 8601. */
  readonly since: string;
}

export interface AcpRecord {
  readonly v: 1;
  /** null for the agent as a whole: the most urgent of its sessions. */
  readonly sessionId: string | null;
  readonly state: AcpState;
  readonly status: AcpStatus;
  readonly message: string | null;
  /** "Step 2/5: …", while there is a plan and something runs. */
  readonly currentTask: string | null;
  /** When this state and status began, ISO 8601. */
  readonly since: string;
  readonly source: AcpSource;
  /** Work goes on that does not hold the session out of idle. */
  readonly background: boolean;
  readonly stalled: boolean;
  /** Seconds of silence, from the first hint on; 0 before. */
  readonly quietSeconds: number;
  /** Why the last turn ended; null while one is open and before the first. */
  readonly stopReason: string | null;
  readonly error: string | null;
  readonly openTools: number;
  readonly pendingAsks: number;
  /** The oldest first; at most as many as a person can look at. */
  readonly questions: readonly AcpQuestion[];
}

/** All that a display shows of a record. */
const DISPLAYED = [
  "status",
  "state",
  "message",
  "currentTask",
  "background",
  "stalled",
  "quietSeconds",
  "pendingAsks",
] as const;

export function looksLike(a: AcpRecord, b: AcpRecord): boolean {
  return DISPLAYED.every((field) => a[field] === b[field]);
}

export interface AcpProgram {
  readonly name: string;
  readonly title: string | null;
  readonly version: string | null;
}

/** Both ends of the connection. */
export interface AcpFacts {
  readonly protocolVersion: number | null;
  readonly agent: AcpProgram | null;
  readonly client: AcpProgram | null;
  /** In which form the client asked for our status, by `clientCapabilities._meta`. */
  readonly wants: StatusForm | null;
}

export interface AcpSessionFacts {
  readonly sessionId: string;
  readonly cwd: string | null;
  readonly title: string | null;
  /** The text of the first prompt. */
  readonly goal: string | null;
  readonly parentId: string | null;
}

/** How a status travels inside ACP: see `form.ts`. */
export type StatusForm = "meta" | "ext" | "variant" | "flat";

/** The more urgent comes first. */
export const URGENCY: Readonly<Record<AcpStatus, number>> = {
  waiting: 4,
  writing: 3,
  reading: 2,
  thinking: 1,
  idle: 0,
};
