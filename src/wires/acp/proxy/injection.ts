/**
 * Says the status to the client in the stream itself, for those who ask for it. Off unless asked:
 * clients punish what they do not know.
 *
 *   off ── never      auto ── in the form that the client asked for in its `initialize`, else never
 *
 *   shown ──▶ due ──▶ said: it is still so, the turn is open, everything that was forwarded was
 *     ▲        │      looked at, and the last byte ended a line
 *     └────────┘ something newer is shown
 *   the turn ended: forgotten · the client answers with an error that answers nothing, or the agent
 *   says its own status (another proxy is behind us, or it needs none): silent from now on
 *
 * The first time it listens for a moment whether somebody behind it says the same.
 *
 * Only notifications, so no id can clash; never a frame of the agent's changed. No "idle": the end
 * of the turn says it, and after it nothing may come.
 */
import type { Clock } from "../../../core/clock.ts";
import type { AcpDeriver } from "../derive/deriver.ts";
import { saidIn, STATUS_METHOD, statusMessage } from "../derive/form.ts";
import type { AcpFrame, FrameSender } from "../derive/frames.ts";
import type { AcpRecord, StatusForm } from "../derive/record.ts";
import { INJECTION } from "./limits.ts";

export const INJECTIONS = ["off", "meta", "ext", "variant", "flat", "auto"] as const;

export type Injection = (typeof INJECTIONS)[number];

export interface InjectorOptions {
  readonly injection: Injection;
  readonly deriver: Pick<AcpDeriver, "facts" | "hasOpenTurn" | "records">;
  readonly clock: Clock;
  /** Another proxy started us: it listens whether we speak, so there is nothing to wait for. */
  readonly isBehindProxy: boolean;
  /**
   * Says a line between two of the agent's. Whether it did: not where more was forwarded than was
   * looked at, not within a line, not to a client that is behind.
   */
  readonly interject: (line: string) => Promise<boolean>;
}

export class Injector {
  readonly #options: InjectorOptions;
  readonly #due = new Map<string, AcpRecord>();
  /** The status last sent to the client, by session, in this turn. */
  readonly #said = new Map<string, string>();
  #hasSpoken = false;
  #isSpeaking = false;
  /** Something was looked at while it was speaking. */
  #isOutdated = false;
  #hasListened: boolean;
  #stopListening: (() => void) | undefined;
  #isSilent: boolean;

  constructor(options: InjectorOptions) {
    this.#options = options;
    this.#isSilent = options.injection === "off";
    this.#hasListened = options.isBehindProxy;
  }

  get isSilent(): boolean {
    return this.#isSilent;
  }

  /** A frame went by: is it a reason to be silent? */
  saw(sender: FrameSender, frame: AcpFrame): void {
    if (this.#isSilent) return;
    const isOurs = sender === "agent" && frame.kind === "notification" && isStatus(frame);
    const isComplaint = sender === "client" && frame.kind === "error" && frame.id === null;
    if (isOurs || (isComplaint && this.#hasSpoken)) this.close();
  }

  /** The record to show of one session; it is sent when all input was read. */
  show(record: AcpRecord): void {
    const { sessionId, status } = record;
    if (this.#isSilent || sessionId === null) return;
    if (status === "idle") return this.#forget(sessionId);
    this.#due.delete(sessionId);
    this.#due.set(sessionId, record);
    const [oldest = ""] = this.#due.keys();
    if (this.#due.size > INJECTION.sessions) this.#forget(oldest);
    this.#listen();
  }

  #listen(): void {
    this.#stopListening ??= this.#options.clock.after(INJECTION.listenMs, () => {
      this.#hasListened = true;
      this.settled();
    });
  }

  /** Something was looked at: what is due may be said now. */
  settled(): void {
    this.#isOutdated = this.#isSpeaking;
    if (!this.#hasListened || this.#isSpeaking) return;
    for (const [sessionId, record] of this.#due) {
      const line = this.#lineOf(sessionId, record);
      if (line !== undefined) return void this.#say(record, line);
    }
  }

  /** Nothing more is said. Idempotent. */
  close(): void {
    this.#isSilent = true;
    this.#stopListening?.();
    this.#due.clear();
    this.#said.clear();
  }

  /** Nothing where it is not so any more, or was said before. */
  #lineOf(sessionId: string, record: AcpRecord): string | undefined {
    const { deriver } = this.#options;
    const form = this.#form();
    if (!deriver.hasOpenTurn(sessionId) || form === null) {
      this.#forget(sessionId);
      return undefined;
    }
    const isSo = deriver
      .records()
      .some((now) => now.sessionId === sessionId && isLike(now, record));
    if (!isSo || this.#said.get(sessionId) === newsIn(record)) {
      this.#due.delete(sessionId);
      return undefined;
    }
    const { questions: _, ...profile } = record;
    return JSON.stringify(statusMessage(form, sessionId, profile));
  }

  async #say(record: AcpRecord, line: string): Promise<void> {
    const sessionId = record.sessionId ?? "";
    this.#isSpeaking = true;
    const isSaid = await this.#options.interject(line);
    this.#isSpeaking = false;
    if (this.#isSilent) return;
    // Not now: at the next occasion, if it is still so then.
    if (!isSaid) return this.#isOutdated ? this.settled() : undefined;
    this.#hasSpoken = true;
    this.#said.set(sessionId, newsIn(record));
    if (this.#due.get(sessionId) === record) this.#due.delete(sessionId);
    this.settled();
  }

  #form(): StatusForm | null {
    const { injection, deriver } = this.#options;
    if (deriver.facts.protocolVersion === null) return null;
    if (injection === "auto") return deriver.facts.wants;
    return injection === "off" ? null : injection;
  }

  #forget(sessionId: string): void {
    this.#due.delete(sessionId);
    this.#said.delete(sessionId);
  }
}

function newsIn({ status, message, currentTask }: AcpRecord): string {
  return JSON.stringify([status, message, currentTask]);
}

function isLike(a: AcpRecord, b: AcpRecord): boolean {
  return a.status === b.status && a.pendingAsks === b.pendingAsks;
}

function isStatus({ method, params }: Extract<AcpFrame, { kind: "notification" }>): boolean {
  if (method === STATUS_METHOD) return true;
  return method === "session/update" && saidIn(params) !== undefined;
}
