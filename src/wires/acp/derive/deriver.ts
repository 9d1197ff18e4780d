/**
 * The status of the sessions of one ACP connection, from its frames. No clock and no I/O: frames go
 * in with their time, records that changed come out, and `nextDeadlineMs` says when to `tick`.
 *
 * Times are milliseconds since 1970 of a clock that never goes back; one that does is held. After
 * a sleep of the machine call `woke`, or the silence of the night counts as silence of the agent.
 */
import { AcpConnection, type AcpExit } from "./connection.ts";
import { Dialogue } from "./dialogue.ts";
import type { AcpFrame, FrameSender } from "./frames.ts";
import type { AcpFacts, AcpRecord, AcpSessionFacts } from "./record.ts";
import { quietDeadlineMs, Roster } from "./roster.ts";
import { backgroundEndsAtMs, doubt, hasTurn, type AcpSession } from "./session.ts";

export interface AcpDeriverOptions {
  /** Take the to-do list in a tool's input for the plan, where an agent sends none. */
  readonly readsTodos?: boolean;
}

export class AcpDeriver {
  readonly #connection = new AcpConnection();
  readonly #roster = new Roster(this.#connection);
  readonly #dialogue: Dialogue;
  #nowMs = 0;

  constructor({ readsTodos = false }: AcpDeriverOptions = {}) {
    this.#dialogue = new Dialogue(this.#connection, this.#roster, readsTodos);
  }

  /** Takes one frame, in the order of the wire; returns what changed, the agent as a whole last. */
  observe(sender: FrameSender, frame: AcpFrame, nowMs: number): readonly AcpRecord[] {
    if (this.#connection.hasExited) return [];
    this.#advance(nowMs);
    this.#dialogue.take(sender, frame, this.#nowMs);
    const { sessions, lastWords } = this.#dialogue.takeTouched();
    return this.#refresh(sessions, lastWords);
  }

  /**
   * Frames are missing: the observer was too slow. What was open may be over; a turn is held
   * to be open until the next prompt, or the answer of one, says more.
   */
  lost(nowMs: number): readonly AcpRecord[] {
    this.#advance(nowMs);
    const sessions = this.#roster.all();
    this.#connection.lost();
    for (const session of sessions) doubt(session);
    return this.#refresh(sessions);
  }

  /** Judges silence. Calling it too early or too often does no harm. */
  tick(nowMs: number): readonly AcpRecord[] {
    this.#advance(nowMs);
    const sessions = this.#roster.all();
    for (const session of sessions) {
      const endsAtMs = backgroundEndsAtMs(session);
      if (endsAtMs !== undefined && endsAtMs <= this.#nowMs) session.backgroundAtMs = undefined;
    }
    return this.#refresh(sessions);
  }

  /** When to `tick`, if no frame comes before. */
  get nextDeadlineMs(): number | undefined {
    const nowMs = this.#nowMs;
    const own = this.#connection;
    let next = quietDeadlineMs(own.derive()?.quiet, { sinceMs: own.quietSinceMs, nowMs });
    for (const session of this.#roster.all()) {
      const quiet = quietDeadlineMs(session.quiet, { sinceMs: session.quietSinceMs, nowMs });
      next = Math.min(next, quiet, backgroundEndsAtMs(session) ?? Infinity);
    }
    return next === Infinity ? undefined : next;
  }

  /** The machine slept: nobody was silent. */
  woke(nowMs: number): readonly AcpRecord[] {
    this.#advance(nowMs);
    this.#connection.quietSinceMs = this.#nowMs;
    for (const session of this.#roster.all()) session.quietSinceMs = this.#nowMs;
    return this.tick(nowMs);
  }

  /** The agent is gone, or its output ended. Frames that follow are not looked at. */
  exited(exit: AcpExit, nowMs: number): readonly AcpRecord[] {
    if (this.#connection.hasExited) return [];
    this.#advance(nowMs);
    const message = this.#connection.exited(exit);
    const sessions = this.#roster.all();
    const lastWords = sessions.map((each) => this.#roster.forget(each, message, this.#nowMs));
    return this.#refresh([], lastWords);
  }

  /** The agent as a whole: the most urgent of its sessions. */
  get agent(): AcpRecord {
    return this.#roster.agent;
  }

  get facts(): AcpFacts {
    return this.#connection.facts;
  }

  /** One for each session. */
  records(): readonly AcpRecord[] {
    return this.#roster.all().flatMap(({ record }) => record ?? []);
  }

  session(sessionId: string): AcpSessionFacts | undefined {
    const session = this.#roster.find(sessionId);
    if (session === undefined) return undefined;
    const { cwd, title, goal, parentId } = session;
    return { sessionId, cwd, title, goal, parentId };
  }

  /** Whether a client expects updates of it: only then may one be added. */
  hasOpenTurn(sessionId: string): boolean {
    const session = this.#roster.find(sessionId);
    return session?.loads.size === 0 && hasTurn(session);
  }

  #advance(nowMs: number): void {
    if (nowMs > this.#nowMs) this.#nowMs = nowMs;
  }

  #refresh(
    sessions: readonly AcpSession[],
    lastWords: readonly AcpRecord[] = [],
  ): readonly AcpRecord[] {
    const changed = sessions.flatMap((session) => this.#roster.refresh(session, this.#nowMs));
    const isAfterChange = changed.length > 0 || lastWords.length > 0;
    const agent = this.#roster.refreshAgent(this.#nowMs, { isAfterChange });
    return [...lastWords, ...changed, ...agent];
  }
}
