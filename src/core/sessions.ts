/**
 * A session: a client's ARCP connection that outlives its transport. It numbers the frames of what
 * its jobs say, and a client that lost its connection resumes it with a token.
 *
 *   open ──▶ attached ──transport lost──▶ detached ──window over──▶ gone
 *               ▲                            │
 *               └────────── resume ──────────┘
 *
 * Being attached is soft, like a heartbeat: a restart detaches all of them, and each gets a whole
 * window to come back. The numbers are in the session's stream (`session/ID`, see job-stream.ts).
 *
 * A resume rotates the token. The new one is durable before its client hears of it; the one before
 * it counts again only while that client may never have heard of the new one.
 */
import { decided, refuse, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key, line } from "./fields.ts";
import { Heap, type Slot } from "./heap.ts";
import { IndexBy } from "./index-by.ts";
import { SESSIONS } from "./jobs/limits.ts";
import { FIELD } from "./limits.ts";
import { beyondShare } from "./shares.ts";
import type { State } from "./state.ts";

export interface Session {
  readonly id: string;
  readonly principal: string;
  /** The client's name and version, as it says. */
  readonly client: string;
  /** Which shapes of frames it takes, and what both sides agreed on. */
  readonly profile: string;
  readonly features: readonly string[];
  readonly openedAtMs: number;
  /** Digests of the token that resumes it, and of the one before while that may be needed. */
  readonly tokenHash: string;
  readonly tokenHashBefore: string;
}

export type SessionLimits = { readonly [Name in keyof typeof SESSIONS]: number };

export interface SessionEntry {
  session: Session;
  /** Soft. */
  isAttached: boolean;
  /** Soft: since when it is detached. */
  detachedAtMs: number;
  /** Soft: the number of its last frame; its stream has it. */
  seq: number;
  /** By the job that it follows. */
  readonly subscriptions: Map<string, Subscription>;
  /** Rings when its window may be over. */
  readonly timer: Slot<string>;
}

export class Sessions {
  readonly byId = new Map<string, SessionEntry>();
  readonly byPrincipal = new IndexBy();
  readonly deadlines = new Heap<string>();
  /** Settings of the daemon that leads. */
  limits: SessionLimits = SESSIONS;
}

export interface ResumeCommand {
  readonly type: "session.resume";
  readonly sessionId: string;
  readonly principal: string;
  readonly client: string;
  readonly profile: string;
  readonly features: readonly string[];
  /** The digest of the token that the client presents, and of the one it gets. */
  readonly tokenHash: string;
  readonly newTokenHash: string;
  /** Whether the client of the last resume may never have got its token. */
  readonly isUnproven: boolean;
  /** Whether all that follows the last number the client has can still be sent. */
  readonly isKept: boolean;
}

export type SessionCommand =
  | {
      readonly type: "session.open";
      readonly sessionId: string;
      readonly principal: string;
      readonly client: string;
      readonly profile: string;
      readonly features: readonly string[];
      readonly tokenHash: string;
    }
  | ResumeCommand
  /** The client spoke after a resume: it has the new token. */
  | { readonly type: "session.prove"; readonly sessionId: string }
  | ({ readonly type: "session.subscribe" } & Subscription)
  | {
      readonly type: "session.unsubscribe";
      readonly sessionId: string;
      readonly jobId: string;
    }
  /** From a file of an older program. */
  | {
      readonly type: "session.import";
      readonly session: Session;
      readonly subscriptions: readonly Subscription[];
    };

export interface SessionReplies {
  "session.open": Session;
  "session.resume": Session;
  "session.prove": null;
  "session.subscribe": null;
  "session.unsubscribe": null;
  "session.import": null;
}

export interface Subscription {
  readonly sessionId: string;
  readonly jobId: string;
  /** The position in the job's stream after which it began. */
  readonly after: number;
  /** The number of the session's last frame then: what it heard of the job before is not of it. */
  readonly seq?: number | undefined;
  /** Entries that the session which submitted the job had up to this number are left out. */
  readonly ownerSeq?: number | undefined;
}

export type SessionEvent =
  | { readonly type: "session.opened" | "session.resumed"; readonly session: Session }
  | { readonly type: "session.proved" | "session.gone"; readonly sessionId: string }
  | ({ readonly type: "session.subscribed" } & Subscription)
  | {
      readonly type: "session.unsubscribed";
      readonly sessionId: string;
      readonly jobId: string;
    };

export function decideSession(
  state: State,
  command: SessionCommand,
  moment: Moment,
): Decision<Event, SessionReplies[keyof SessionReplies]> {
  const { sessions } = state;
  switch (command.type) {
    case "session.open":
      return open(state, command, moment);
    case "session.resume":
      return resume(state, command);
    case "session.prove": {
      const session = sessions.byId.get(command.sessionId)?.session;
      if (!session || session.tokenHashBefore === "") return decided([], null);
      return decided([{ type: "session.proved", sessionId: session.id }], null);
    }
    case "session.subscribe": {
      const { sessionId, jobId, after, seq, ownerSeq } = command;
      if (!sessions.byId.has(sessionId)) return refuse("NOT_FOUND", `no session ${sessionId}`);
      if (!state.jobs.byId.has(jobId)) return refuse("NOT_FOUND", `no job ${jobId}`);
      const subscription = { sessionId, jobId, after, seq, ownerSeq };
      return decided([{ type: "session.subscribed", ...subscription }], null);
    }
    case "session.unsubscribe": {
      const { sessionId, jobId } = command;
      const isKnown = sessions.byId.get(sessionId)?.subscriptions.has(jobId) ?? false;
      return decided(isKnown ? [{ type: "session.unsubscribed", sessionId, jobId }] : [], null);
    }
    case "session.import": {
      if (sessions.byId.has(command.session.id)) return decided([], null);
      const followed = command.subscriptions.map((each) => ({
        type: "session.subscribed" as const,
        ...each,
      }));
      return decided([{ type: "session.opened", session: command.session }, ...followed], null);
    }
  }
}

function open(
  { sessions }: State,
  command: SessionCommand & { readonly type: "session.open" },
  { nowMs }: Moment,
): Decision<Event, Session> {
  const { principal, client, profile, features, tokenHash } = command;
  const { perPrincipal, total } = sessions.limits;
  const refusal = invalid(
    key("principal", principal),
    key("sessionId", command.sessionId, FIELD.nameLength),
    line("client", client, FIELD.descriptionLength),
  );
  if (refusal) return refusal;
  if (sessions.byId.has(command.sessionId)) {
    return refuse("ALREADY_EXISTS", `${command.sessionId} was opened already`);
  }
  const own = sessions.byPrincipal.of(principal).size;
  if (own >= perPrincipal) {
    return refuse("LIMIT_EXCEEDED", `${principal} has ${perPrincipal} sessions`);
  }
  const wish = { owner: principal, own, total: sessions.byId.size };
  const full = beyondShare({ limit: total, noun: "sessions" }, wish);
  if (full) return full;
  const session: Session = {
    id: command.sessionId,
    principal,
    client,
    profile,
    features,
    openedAtMs: nowMs,
    tokenHash,
    tokenHashBefore: "",
  };
  return decided([{ type: "session.opened", session }], session);
}

/**
 * Refused with one code and one sentence, whatever was wrong: that a session exists, whose it is
 * and how far it got stays hidden from other clients.
 */
function resume({ sessions }: State, command: ResumeCommand): Decision<Event, Session> {
  const known = sessions.byId.get(command.sessionId)?.session;
  const { principal, client, profile, features, tokenHash, newTokenHash } = command;
  const isToken = known?.tokenHash === tokenHash;
  const mayBeBefore = command.isUnproven && tokenHash !== "";
  const isBefore = mayBeBefore && known?.tokenHashBefore === tokenHash;
  if (known?.principal !== principal || !(isToken || isBefore) || !command.isKept) {
    return refuse("OUT_OF_RANGE", "this session cannot be resumed");
  }
  const session: Session = {
    ...known,
    client,
    profile,
    features,
    tokenHash: newTokenHash,
    // The token its client surely has, even if a newer one was lost on the way.
    tokenHashBefore: tokenHash,
  };
  return decided([{ type: "session.resumed", session }], session);
}

export function evolveSession(state: State, event: SessionEvent): void {
  const { byId } = state.sessions;
  switch (event.type) {
    case "session.opened":
      restoreSession(state, event.session);
      return;
    case "session.resumed": {
      const entry = byId.get(event.session.id);
      if (entry) entry.session = event.session;
      return;
    }
    case "session.proved": {
      const entry = byId.get(event.sessionId);
      if (entry) entry.session = { ...entry.session, tokenHashBefore: "" };
      return;
    }
    case "session.gone":
      remove(state.sessions, event.sessionId);
      return;
    case "session.subscribed": {
      const { type: _, ...subscription } = event;
      restoreSubscription(state, subscription);
      return;
    }
    case "session.unsubscribed":
      byId.get(event.sessionId)?.subscriptions.delete(event.jobId);
      return;
  }
}

export function restoreSession({ sessions, lastAtMs }: State, session: Session): void {
  const timer = sessions.deadlines.add(lastAtMs + windowMs(sessions), session.id);
  sessions.byId.set(session.id, {
    session,
    isAttached: false,
    detachedAtMs: lastAtMs,
    seq: 0,
    subscriptions: new Map(),
    timer,
  });
  sessions.byPrincipal.add(session.principal, session.id);
}

export function restoreSubscription({ sessions }: State, subscription: Subscription): void {
  const { sessionId, jobId } = subscription;
  sessions.byId.get(sessionId)?.subscriptions.set(jobId, subscription);
}

function remove(sessions: Sessions, id: string): void {
  const entry = sessions.byId.get(id);
  if (!entry) return;
  sessions.deadlines.remove(entry.timer);
  sessions.byId.delete(id);
  sessions.byPrincipal.delete(entry.session.principal, id);
}

/** Soft: a client is connected, or no longer. */
export function setAttached(
  { sessions }: State,
  sessionId: string,
  { isAttached, nowMs }: { readonly isAttached: boolean; readonly nowMs: number },
): void {
  const entry = sessions.byId.get(sessionId);
  if (!entry) return;
  entry.isAttached = isAttached;
  entry.detachedAtMs = nowMs;
  if (!isAttached) sessions.deadlines.move(entry.timer, nowMs + windowMs(sessions));
}

/** Takes the settings of the daemon that leads; sessions of before have its window, too. */
export function limitSessions({ sessions }: State, limits: SessionLimits): void {
  sessions.limits = limits;
  for (const { timer, detachedAtMs } of sessions.byId.values()) {
    sessions.deadlines.move(timer, detachedAtMs + windowMs(sessions));
  }
}

function windowMs({ limits }: Sessions): number {
  return limits.resumeWindowSec * 1000;
}

export function dueSession({ deadlines }: Sessions): number | undefined {
  return deadlines.nextAt();
}

export function expireSession(state: State, nowMs: number): readonly Event[] {
  const { sessions } = state;
  const entry = sessions.byId.get(sessions.deadlines.takeDue(nowMs)?.value ?? "");
  // A session that is attached comes back into the heap when it is detached.
  if (!entry || entry.isAttached) return [];
  const endsAtMs = Math.max(entry.detachedAtMs, state.graceFromMs) + windowMs(sessions);
  if (endsAtMs > nowMs) {
    sessions.deadlines.move(entry.timer, endsAtMs);
    return [];
  }
  return [{ type: "session.gone", sessionId: entry.session.id }];
}
