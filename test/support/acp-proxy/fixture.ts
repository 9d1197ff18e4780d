/** For tests of what is made of a conversation: records as a deriver gives them. */
import {
  STATUSES,
  type AcpQuestion,
  type AcpRecord,
} from "../../../src/wires/acp/derive/record.ts";

export const AT = "2026-11-16T06:00:00.000Z";

export function record(changes: Partial<AcpRecord> = {}): AcpRecord {
  return {
    v: 1,
    sessionId: "S",
    state: "running",
    status: STATUSES[1],
    message: "Read notes.txt",
    currentTask: null,
    since: AT,
    source: "derived",
    background: false,
    stalled: false,
    quietSeconds: 0,
    stopReason: null,
    error: null,
    openTools: 1,
    pendingAsks: 0,
    questions: [],
    ...changes,
  };
}

export const PERMISSION: AcpQuestion = {
  id: "q1",
  kind: "permission",
  text: "Write result.txt",
  options: [
    { id: "y", name: "Allow once", kind: "allow_once" },
    { id: "n", name: "Reject", kind: "reject_once" },
  ],
  since: AT,
};

export const WAITING: Partial<AcpRecord> = {
  state: "waiting",
  status: "waiting",
  message: PERMISSION.text,
  pendingAsks: 1,
  questions: [PERMISSION],
};
