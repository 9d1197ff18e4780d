/**
 * Observes a conversation: bytes become frames, frames go to the deriver, every change to the
 * timeline, and what stays so long enough to be seen to those who show it.
 *
 *   bytes ──▶ frame ──▶ observer ──changed──▶ onChange ──▶ … calm enough ──▶ onShow
 *
 * An error here ends the reading: half of a story would be a wrong one.
 */
import type { Clock } from "../../../core/clock.ts";
import type { AcpFrame, FrameSender } from "../derive/frames.ts";
import { AcpObserver } from "../derive/observer.ts";
import { AcpLineReader } from "../derive/reader.ts";
import { URGENCY, type AcpRecord, type AcpSessionFacts } from "../derive/record.ts";
import { redact } from "../../../core/redact.ts";
import { wordOf } from "../../../core/text.ts";
import type { ProcessExit } from "./agent-process.ts";
import type { SessionPresence } from "./presence.ts";

/** As hooks cut it: what readers of the status format show of a prompt in a line. */
const GOAL_LENGTH = 120;

export interface ReadingOptions {
  readonly clock: Clock;
  /** The agent's name until it gives its own. */
  readonly name: string;
  /** Every frame, before anything comes of it. */
  readonly onFrame?: (sender: FrameSender, frame: AcpFrame) => void;
  /** Every change, of a session or (without one) of the agent as a whole. */
  readonly onChange?: (record: AcpRecord, atMs: number) => void;
  /** The same, calm enough to be looked at. */
  readonly onShow?: (record: AcpRecord, atMs: number) => void;
  readonly onError: (error: unknown) => void;
}

export class ProxyReader {
  readonly #options: ReadingOptions;
  readonly #observer: AcpObserver;
  readonly #readers: Readonly<Record<FrameSender, AcpLineReader>> = {
    client: new AcpLineReader(),
    agent: new AcpLineReader(),
  };
  #lead: AcpSessionFacts | undefined;
  #isOver = false;

  constructor(options: ReadingOptions) {
    const { clock, onChange, onShow } = options;
    this.#options = options;
    this.#observer = new AcpObserver((record, atMs) => onShow?.(withoutSecrets(record), atMs), {
      clock,
      onChange: (record, atMs) => onChange?.(withoutSecrets(record), atMs),
    });
  }

  get deriver(): AcpObserver["deriver"] {
    return this.#observer.deriver;
  }

  nowMs(): number {
    return this.#observer.nowMs();
  }

  /** A piece of the stream of one side. */
  take(sender: FrameSender, chunk: Uint8Array, isBroken = false): void {
    const reader = this.#readers[sender];
    if (isBroken) reader.skipLine();
    this.#guarded(() => {
      for (const frame of reader.push(chunk)) this.#look(sender, frame);
    });
  }

  /** Frames of that side are missing. */
  lost(sender: FrameSender): void {
    this.#readers[sender].gap();
    this.#guarded(() => this.#observer.lost());
  }

  /** The agent is gone; a last line may lack its end. */
  ended({ code, signal }: ProcessExit): void {
    this.#guarded(() => {
      for (const sender of ["client", "agent"] as const) {
        for (const frame of this.#readers[sender].finish()) this.#look(sender, frame);
      }
    });
    this.#isOver = true;
    this.#observer.exited({ code, signal });
  }

  /** The agent as a whole, with what is known of the session that matters most. */
  presence(record: AcpRecord, atMs: number): SessionPresence {
    const { agent, client } = this.deriver.facts;
    const [lead] = this.deriver.records().toSorted(moreUrgent);
    const session = lead && this.deriver.session(lead.sessionId ?? "");
    // One that was closed is still what it was about.
    this.#lead = session ?? this.#lead;
    return {
      name: agent?.name ?? this.#options.name,
      version: agent?.version ?? null,
      client,
      sessionId: this.#lead?.sessionId ?? null,
      workspace: this.#lead?.cwd ?? null,
      goal: wordOf(this.#lead?.goal, GOAL_LENGTH) ?? null,
      unreadFrames: this.#readers.client.unread + this.#readers.agent.unread,
      record,
      atMs,
    };
  }

  async close(): Promise<void> {
    this.#isOver = true;
    await this.#observer.close();
  }

  #look(sender: FrameSender, frame: AcpFrame): void {
    this.#options.onFrame?.(sender, frame);
    this.#observer.observe(sender, frame);
  }

  #guarded(act: () => void): void {
    if (this.#isOver) return;
    try {
      act();
    } catch (error) {
      this.#isOver = true;
      this.#options.onError(error);
    }
  }
}

/** Titles hold commands, and commands hold secrets. */
function withoutSecrets(record: AcpRecord): AcpRecord {
  const { message, currentTask, error, questions } = record;
  return {
    ...record,
    message: message === null ? null : redact(message),
    currentTask: currentTask === null ? null : redact(currentTask),
    error: error === null ? null : redact(error),
    questions: questions.map((question) => ({ ...question, text: redact(question.text) })),
  };
}

/** The most urgent first, and of those the last to become so. */
function moreUrgent(a: AcpRecord, b: AcpRecord): number {
  return URGENCY[b.status] - URGENCY[a.status] || b.since.localeCompare(a.since);
}
