/**
 * The state as text and back, in pieces: so that a start need not replay everything, and so that
 * writing it down holds up nobody.
 *
 * Records are never changed in place, only replaced. So a snapshot first copies the references
 * (fast, at one moment) and then encodes them piece by piece while the engine goes on.
 */
import { keysOf, restoreAgent, restoreKey, type Agent, type KeptKey } from "./agents.ts";
import { restoreEntry, type KeptEntry } from "./directory.ts";
import { checkFormat, FORMATS, snapshotVersion } from "./formats.ts";
import { restoreGroup, type Election } from "./elections.ts";
import { evolveCredential, type Credential } from "./credentials.ts";
import { restoreHostJob, type HostJob } from "./host-jobs.ts";
import type { JobQueue } from "./job-queue.ts";
import { restoreJob, type Job } from "./jobs.ts";
import type { JobProgress } from "./job-progress.ts";
import { restoreLease, type Lease } from "./leases.ts";
import { RollcallError } from "./errors.ts";
import { ENGINE } from "./limits.ts";
import { restoreMember, type ClusterMember } from "./members.ts";
import type { Leadership } from "./nodes.ts";
import { restoreOutpost, type Outpost } from "./outposts.ts";
import { evolvePolicy, type Policy } from "./policies.ts";
import { restoreQuestion, type Question } from "./questions.ts";
import { restoreReport, type Report } from "./reports.ts";
import { restoreAnswer, type AnsweredRequest } from "./requests.ts";
import { restoreSession, restoreSubscription } from "./sessions.ts";
import type { Session, Subscription } from "./sessions.ts";
import { emptyState, type State } from "./state.ts";
import { restorePlace, restoreTask } from "./task-evolution.ts";
import type { Task } from "./tasks.ts";
import { restoreToken, type Token } from "./tokens.ts";

/** The newest that is read here; formats.ts says which is written. */
const VERSION = 10;

interface Scalars {
  readonly version: number;
  readonly lastToken: number;
  /** Since there is one. */
  readonly floor?: number;
  /** Since version 10; absent: the first. */
  readonly format?: number;
  readonly termFloor: number;
  readonly leadership: Leadership;
  readonly graceFromMs: number;
  readonly lastAtMs: number;
}

interface GroupRecord {
  readonly election: Election;
  readonly candidates: readonly string[];
}

interface KeptProgress {
  readonly jobId: string;
  readonly progress: JobProgress;
}

/** The order in which principals get the slots of a node. */
interface Turns {
  readonly node: string;
  readonly principals: readonly string[];
}

interface KeptSession {
  readonly session: Session;
  readonly subscriptions: readonly Subscription[];
}

type Piece =
  | { readonly part: "scalars"; readonly records: readonly Scalars[] }
  | { readonly part: "agents"; readonly records: readonly Agent[] }
  /** Since version 7. */
  | { readonly part: "keys"; readonly records: readonly KeptKey[] }
  | { readonly part: "leases"; readonly records: readonly Lease[] }
  | { readonly part: "groups"; readonly records: readonly GroupRecord[] }
  | { readonly part: "policies"; readonly records: readonly Policy[] }
  | { readonly part: "tasks"; readonly records: readonly Task[] }
  | { readonly part: "reports"; readonly records: readonly Report[] }
  | { readonly part: "questions"; readonly records: readonly Question[] }
  /** Since version 8. */
  | { readonly part: "outposts"; readonly records: readonly Outpost[] }
  /** Since version 9. */
  | { readonly part: "hostJobs"; readonly records: readonly HostJob[] }
  | { readonly part: "jobs"; readonly records: readonly Job[] }
  /** Since version 5. */
  | { readonly part: "progress"; readonly records: readonly KeptProgress[] }
  | { readonly part: "turns"; readonly records: readonly Turns[] }
  | { readonly part: "sessions"; readonly records: readonly KeptSession[] }
  | { readonly part: "credentials"; readonly records: readonly Credential[] }
  /** Since version 6. */
  | { readonly part: "tokens"; readonly records: readonly Token[] }
  | { readonly part: "directory"; readonly records: readonly KeptEntry[] }
  /** Since version 8. */
  | { readonly part: "members"; readonly records: readonly ClusterMember[] }
  | { readonly part: "requests"; readonly records: readonly AnsweredRequest[] }
  /** Ids of the tasks in the queue, in order; since version 2 of those that are claimed as well. */
  | { readonly part: "queue"; readonly records: readonly string[] };

/** Copies what must not change under way, now; the pieces are encoded as they are asked for. */
export function capture(state: State): Iterable<string> {
  return encodePieces(partsOf(state));
}

function partsOf(state: State): readonly Piece[] {
  const { agents, leases, elections, policies, tasks, fencing } = state;
  const scalars: Scalars = {
    version: snapshotVersion(state),
    lastToken: fencing.lastToken,
    ...(fencing.floor > 0 && { floor: fencing.floor }),
    ...(state.format > FORMATS[0] && { format: state.format }),
    termFloor: elections.termFloor,
    leadership: state.leadership,
    graceFromMs: state.graceFromMs,
    lastAtMs: state.lastAtMs,
  };
  return [
    { part: "scalars", records: [scalars] },
    { part: "agents", records: copied(agents.byId, ({ agent }) => agent) },
    { part: "keys", records: keysOf(state) },
    { part: "leases", records: copied(leases.byTask, ({ lease }) => lease) },
    {
      part: "groups",
      records: copied(elections.byGroup, ({ election, candidates }) => ({
        election,
        candidates: [...candidates],
      })),
    },
    { part: "policies", records: [...policies.byId.values()] },
    { part: "tasks", records: copied(tasks.byId, ({ task }) => task) },
    { part: "reports", records: copied(state.reports.byAlias, (each) => each.report) },
    {
      part: "questions",
      records: copied(state.questions.byId, ({ question }) => question),
    },
    { part: "outposts", records: copied(state.outposts.byHost, ({ outpost }) => outpost) },
    { part: "hostJobs", records: copied(state.hostJobs.byId, ({ job }) => job) },
    { part: "jobs", records: copied(state.jobs.byId, ({ job }) => job) },
    {
      part: "progress",
      records: progressOf(state),
    },
    { part: "turns", records: [...state.jobs.queues].flatMap(turnsOf) },
    {
      part: "sessions",
      records: copied(state.sessions.byId, ({ session, subscriptions }) => ({
        session,
        subscriptions: [...subscriptions.values()],
      })),
    },
    { part: "credentials", records: [...state.credentials.byJob.values()] },
    { part: "tokens", records: copied(state.tokens.byName, ({ token }) => token) },
    {
      part: "directory",
      records: copied(state.directory.byUrl, ({ entry, tokenHash }) => ({
        entry,
        tokenHash,
      })),
    },
    { part: "members", records: copied(state.members.byNode, ({ member }) => member) },
    { part: "requests", records: [...state.requests.byName.values()] },
    { part: "queue", records: tasks.pending.inOrder() },
  ];
}

/** In one turn, of up to millions: a third of the time that an iterator takes. */
function copied<Item, Record>(items: ReadonlyMap<string, Item>, record: (item: Item) => Record) {
  const records: Record[] = [];
  records.length = items.size;
  let place = 0;
  items.forEach((item) => {
    records[place] = record(item);
    place += 1;
  });
  return records;
}

function progressOf({ jobs }: State): readonly KeptProgress[] {
  const kept: KeptProgress[] = [];
  jobs.byId.forEach(({ job, progress }) => {
    if (progress) kept.push({ jobId: job.id, progress });
  });
  return kept;
}

function turnsOf([node, { turns }]: readonly [string, JobQueue]): readonly Turns[] {
  return turns.length > 0 ? [{ node, principals: turns }] : [];
}

function* encodePieces(parts: readonly Piece[]): Generator<string> {
  for (const { part, records } of parts) {
    let texts: string[] = [];
    let bytes = 0;
    for (const [i, record] of records.entries()) {
      const text = JSON.stringify(record);
      texts.push(text);
      bytes += text.length;
      const isFull =
        texts.length >= ENGINE.snapshotChunkRecords || bytes >= ENGINE.snapshotChunkBytes;
      if (!isFull && i < records.length - 1) continue;
      yield `{"part":"${part}","records":[${texts.join(",")}]}`;
      texts = [];
      bytes = 0;
    }
  }
}

export async function restore(chunks: AsyncIterable<string> | Iterable<string>): Promise<State> {
  const state = emptyState();
  for await (const chunk of chunks) restorePiece(state, JSON.parse(chunk) as Piece);
  return state;
}

/** When the state was captured, from its first piece. */
export function capturedAtMs(firstChunk: string): number {
  const piece = JSON.parse(firstChunk) as Piece;
  return piece.part === "scalars" ? (piece.records[0]?.lastAtMs ?? 0) : 0;
}

function restorePiece(state: State, piece: Piece): void {
  switch (piece.part) {
    case "scalars":
      for (const scalars of piece.records) restoreScalars(state, scalars);
      return;
    case "agents":
      for (const agent of piece.records) restoreAgent(state, agent);
      return;
    case "keys":
      for (const key of piece.records) restoreKey(state, key);
      return;
    case "leases":
      for (const lease of piece.records) restoreLease(state, lease);
      return;
    case "groups":
      for (const { election, candidates } of piece.records) {
        restoreGroup(state, election, candidates);
      }
      return;
    case "policies":
      for (const policy of piece.records) evolvePolicy(state, { type: "policy.set", policy });
      return;
    case "tasks":
      for (const task of piece.records) restoreTask(state, task);
      return;
    case "reports":
      for (const report of piece.records) restoreReport(state, report);
      return;
    case "questions":
      for (const question of piece.records) restoreQuestion(state, question);
      return;
    case "outposts":
      for (const outpost of piece.records) restoreOutpost(state, outpost);
      return;
    case "hostJobs":
      for (const job of piece.records) restoreHostJob(state, job);
      return;
    case "jobs":
      for (const job of piece.records) restoreJob(state, job);
      return;
    case "progress":
      for (const { jobId, progress } of piece.records) {
        const entry = state.jobs.byId.get(jobId);
        if (entry) entry.progress = progress;
      }
      return;
    case "turns":
      for (const { node, principals } of piece.records) {
        state.jobs.queue(node).restoreTurns(principals);
      }
      return;
    case "sessions":
      for (const { session, subscriptions } of piece.records) {
        restoreSession(state, session);
        for (const subscription of subscriptions) restoreSubscription(state, subscription);
      }
      return;
    case "credentials":
      for (const credential of piece.records) {
        evolveCredential(state, { type: "credential.issued", credential });
      }
      return;
    case "tokens":
      for (const token of piece.records) restoreToken(state, token);
      return;
    case "directory":
      for (const kept of piece.records) restoreEntry(state, kept);
      return;
    case "members":
      for (const member of piece.records) restoreMember(state, member);
      return;
    case "requests":
      for (const answered of piece.records) restoreAnswer(state, answered);
      return;
    case "queue":
      for (const id of piece.records) {
        const entry = state.tasks.byId.get(id);
        if (entry) restorePlace(state.tasks, entry.task);
      }
      return;
  }
}

function restoreScalars(state: State, scalars: Scalars): void {
  if (scalars.version > VERSION) {
    throw new RollcallError(
      "STORAGE_TOO_NEW",
      `the snapshot has version ${scalars.version}, this program reads up to ${VERSION}`,
    );
  }
  checkFormat(scalars.format ?? FORMATS[0]);
  state.format = scalars.format ?? FORMATS[0];
  state.fencing.lastToken = scalars.lastToken;
  state.fencing.floor = scalars.floor ?? 0;
  state.elections.termFloor = scalars.termFloor;
  state.leadership = scalars.leadership;
  state.graceFromMs = scalars.graceFromMs;
  state.lastAtMs = scalars.lastAtMs;
}

/** Equal for equal states, however they came about: replayed, restored or lived through. */
export function fingerprint(state: State): string {
  return fingerprintOf(state, JSON.stringify);
}

/** For a caller that keeps the texts of records, which never change. */
export function fingerprintOf(state: State, textOf: (record: unknown) => string): string {
  const parts = partsOf(state).map(({ part, records }) => {
    const texts = records.map((record) => textOf(record));
    return [part, part === "queue" ? texts : texts.toSorted()];
  });
  return JSON.stringify(parts);
}
