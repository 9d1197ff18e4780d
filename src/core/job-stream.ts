/**
 * The entries of streams, as text.
 *
 * The stream of a job, `job/ID`, has one entry for each thing the job was given, said or left:
 *
 *   1700000000000 0 input {"path":"/data"}          only where it may be needed again
 *   1700000000123 4 progress {"current":1}          an event: its kind and its body
 *   1700000000124 0 budget {"USD":"1.5"}            what is left; told to nobody as such
 *   1700000000456 5 end {"status":"success",…}      always the last one
 *
 * The first number is the moment, the second the number that the entry has among the frames of the
 * session that submitted the job; 0 where that session gets no frame of it.
 *
 * The stream of a session, `session/ID`, says which entry of which job each of its frames carries,
 * as spans: `7 job_01H… 3 5` means that frames 7, 8 and 9 are entries 3, 4 and 5 of that job. A
 * frame is encoded when it is sent, so the same number always gives the same bytes. A notice, which
 * no job's stream has, stands there whole: `10 job_01H… ! 1700000000500 status {"phase":"…"}`.
 */
import type { Counters } from "./jobs/budget.ts";

export const JOB_STREAMS = "job/";
export const SESSION_STREAMS = "session/";

export function jobStream(jobId: string): string {
  return JOB_STREAMS + jobId;
}

export function sessionStream(sessionId: string): string {
  return SESSION_STREAMS + sessionId;
}

export interface JobStreamEntry {
  readonly atMs: number;
  /** 0 where the session that submitted the job gets no frame of it. */
  readonly seq: number;
  /** The kind of an event, or input, budget, end. */
  readonly kind: string;
  /** JSON. */
  readonly body: string;
}

export function encodeEntry({ atMs, seq, kind, body }: JobStreamEntry): string {
  return `${atMs} ${seq} ${kind} ${body}`;
}

export function decodeEntry(text: string): JobStreamEntry {
  const first = text.indexOf(" ");
  const second = text.indexOf(" ", first + 1);
  const third = text.indexOf(" ", second + 1);
  return {
    atMs: Number(text.slice(0, first)),
    seq: Number(text.slice(first + 1, second)),
    kind: text.slice(second + 1, third),
    body: text.slice(third + 1),
  };
}

/** Whether subscribers see it. */
export function isShown({ kind }: Pick<JobStreamEntry, "kind">): boolean {
  return kind !== "input" && kind !== "budget";
}

export function budgetOf({ body }: JobStreamEntry): Counters {
  return JSON.parse(body) as Counters;
}

/** Frames `seq`, `seq + 1`, … of a session are entries `first` to `last` of a job. */
export interface FrameSpan {
  readonly seq: number;
  readonly jobId: string;
  readonly first: number;
  readonly last: number;
}

/** Frame `seq` of a session is for its client alone; or the job's stream no longer has it. */
export interface FrameNotice extends JobStreamEntry {
  readonly jobId: string;
}

export type SessionStreamEntry = FrameSpan | FrameNotice;

export function isNotice(entry: SessionStreamEntry): entry is FrameNotice {
  return "body" in entry;
}

/** The number of the last frame that an entry stands for. */
export function lastSeqOf(entry: SessionStreamEntry): number {
  return isNotice(entry) ? entry.seq : entry.seq + entry.last - entry.first;
}

export function encodeSessionEntry(entry: SessionStreamEntry): string {
  const { seq, jobId } = entry;
  if (isNotice(entry)) return `${seq} ${jobId} ! ${entry.atMs} ${entry.kind} ${entry.body}`;
  return `${seq} ${jobId} ${entry.first} ${entry.last}`;
}

export function decodeSessionEntry(text: string): SessionStreamEntry {
  const [seq = "", jobId = "", first = "", last = "", kind = ""] = text.split(" ", 5);
  if (first !== "!") {
    return { seq: Number(seq), jobId, first: Number(first), last: Number(last) };
  }
  const head = `${seq} ${jobId} ! ${last} ${kind} `;
  return { seq: Number(seq), jobId, atMs: Number(last), kind, body: text.slice(head.length) };
}
