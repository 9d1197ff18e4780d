/**
 * What comes of reading along: every frame goes to the deriver, every change to the timeline, and
 * what stays so long enough to be seen to those who show it.
 *
 *   frame ──▶ deriver ──changed──▶ changes (raw) ──▶ damper ──▶ shown
 *   time ───────┘                                     │
 *   time ─────────────────────────────────────────────┘
 */
import { EngineTime, type Clock } from "../../engine/clock.ts";
import { AcpDamper } from "../../wires/acp/damper.ts";
import { AcpDeriver } from "../../wires/acp/deriver.ts";
import type { Frame, Sender } from "../../wires/acp/frames.ts";
import { URGENCY, type AcpRecord, type AcpSessionFacts } from "../../wires/acp/record.ts";
import { TEXT } from "../limits.ts";
import { redact } from "../redact.ts";
import { wordOf } from "../text.ts";
import type { Ended } from "./agent-process.ts";
import { SLEEP_MS } from "./limits.ts";
import type { Onlooker } from "./observer.ts";
import type { Presence } from "./presence.ts";

export interface ReadingOptions {
  readonly clock: Clock;
  /** What the agent is called until it says so. */
  readonly name: string;
  readonly deriver?: AcpDeriver;
  /** Every frame, before anything comes of it. */
  readonly onFrame?: (sender: Sender, frame: Frame, atMs: number) => void;
  /** Every change, of a session or (without one) of the agent as a whole. */
  readonly onChange?: (record: AcpRecord, atMs: number) => void;
  /** The same, calm enough to be looked at. */
  readonly onShow?: (record: AcpRecord, atMs: number) => void;
  /** Frames are missing. */
  readonly onLost?: () => void;
  readonly onSettled?: () => void;
}

export class Reading implements Onlooker {
  readonly deriver: AcpDeriver;
  readonly #options: ReadingOptions;
  readonly #clock: Clock;
  readonly #time: EngineTime;
  readonly #damper = new AcpDamper();
  #lead: AcpSessionFacts | undefined;
  #aheadMs: number;
  #stopTimer: () => void = () => undefined;
  #isClosed = false;

  constructor(options: ReadingOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#time = new EngineTime(options.clock);
    this.#aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    this.deriver = options.deriver ?? new AcpDeriver();
  }

  nowMs(): number {
    return this.#time.nowMs();
  }

  look(sender: Sender, frame: Frame, atMs: number): void {
    this.#options.onFrame?.(sender, frame, atMs);
    this.#take(this.deriver.observe(sender, frame, atMs), atMs);
  }

  lost(_sender: Sender, atMs: number): void {
    this.#options.onLost?.();
    this.#take(this.deriver.lost(atMs), atMs);
  }

  settled(): void {
    this.#options.onSettled?.();
    this.#setTimer();
  }

  ended({ code, signal }: Ended): void {
    const nowMs = this.nowMs();
    this.#take(this.deriver.exited({ code, signal }, nowMs), nowMs);
  }

  /** The agent as a whole, with what is known of the session that matters most. */
  presence(record: AcpRecord, atMs: number): Presence {
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
      goal: wordOf(this.#lead?.goal, TEXT.summaryLength) ?? null,
      record,
      atMs,
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  #take(records: readonly AcpRecord[], atMs: number): void {
    for (const each of records) {
      const record = withoutSecrets(each);
      this.#options.onChange?.(record, atMs);
      this.#show(this.#damper.offer(record, atMs), atMs);
    }
  }

  #show(records: readonly AcpRecord[], atMs: number): void {
    for (const record of records) this.#options.onShow?.(record, atMs);
  }

  #setTimer(): void {
    this.#stopTimer();
    if (this.#isClosed) return;
    const next = Math.min(
      this.deriver.nextDeadlineMs ?? Infinity,
      this.#damper.nextDeadlineMs ?? Infinity,
    );
    if (next === Infinity) return;
    this.#stopTimer = this.#clock.after(Math.max(0, next - this.nowMs()), () => this.#tick());
  }

  #tick(): void {
    const nowMs = this.nowMs();
    this.#take(this.#hasSlept() ? this.deriver.woke(nowMs) : this.deriver.tick(nowMs), nowMs);
    this.#show(this.#damper.tick(nowMs), nowMs);
    this.#setTimer();
  }

  /** The clock on the wall went on while the other stood still. */
  #hasSlept(): boolean {
    const aheadMs = this.#clock.wallMs() - this.#clock.monotonicMs();
    const hasSlept = aheadMs - this.#aheadMs > SLEEP_MS;
    this.#aheadMs = aheadMs;
    return hasSlept;
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
