/**
 * The session of a client: how to resume it, its cursor, the negotiated features, and in what the
 * runtime at the other end differs from the specification.
 *
 * The Python runtime loses what running jobs say after a resume, numbers each subscription by
 * itself, and forgets what was acknowledged; it is known by the form of its resume tokens.
 */
import type { AgentListing } from "../../../core/jobs/agent-ref.ts";
import type { Feature, Welcome } from "../codec/messages.ts";
import type { Resumption } from "./types.ts";

const PYTHON_TOKEN = /^rtk_[0-9A-HJKMNP-TV-Z]{26}$/;

export interface ArcpClientSession {
  readonly sessionId: string;
  readonly runtime: { readonly name: string; readonly version: string };
  readonly resumeToken: string | undefined;
  readonly features: readonly Feature[];
  readonly agents: readonly AgentListing[];
  /** After a resume running jobs must be subscribed to again. */
  readonly losesLiveEvents: boolean;
}

export function sessionOf(welcome: Welcome): ArcpClientSession {
  const { sessionId, runtime, resumeToken, features, agents } = welcome;
  const losesLiveEvents = PYTHON_TOKEN.test(resumeToken ?? "");
  return { sessionId, runtime, resumeToken, features, agents, losesLiveEvents };
}

export type Arrival = "next" | "repeated" | "gap";

/** The place in the events of one session. */
export class SessionCursor {
  lastSeq: number;

  constructor(lastSeq: number) {
    this.lastSeq = lastSeq;
  }

  /** Judges an event by its number; one without a number is taken as it comes. */
  arrive(seq: number | undefined): Arrival {
    if (seq === undefined) return "next";
    if (seq <= this.lastSeq) return "repeated";
    const isNext = seq === this.lastSeq + 1;
    this.lastSeq = seq;
    return isNext ? "next" : "gap";
  }
}

export function resumptionOf(
  session: ArcpClientSession,
  lastEventSeq: number,
): Resumption | undefined {
  const { sessionId, resumeToken } = session;
  return resumeToken === undefined ? undefined : { sessionId, resumeToken, lastEventSeq };
}
