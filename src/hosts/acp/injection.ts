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
import type { Clock } from "../../engine/clock.ts";
import type { AcpDeriver } from "../../wires/acp/deriver.ts";
import { saidIn, STATUS_METHOD } from "../../wires/acp/form.ts";
import type { Frame, Sender } from "../../wires/acp/frames.ts";
import type { AcpRecord, StatusForm } from "../../wires/acp/record.ts";
import { INJECTION } from "./limits.ts";
import { statusFrame } from "./status-frame.ts";

export const INJECTIONS = ["off", "meta", "ext", "variant", "auto"] as const;

export type Injection = (typeof INJECTIONS)[number];

export interface InjectorOptions {
  readonly injection: Injection;
  readonly deriver: Pick<AcpDeriver, "facts" | "hasOpenTurn" | "records">;
  readonly clock: Clock;
  /** Another proxy started us: it listens whether we speak, so there is nothing to wait for. */
  readonly isBehindProxy: boolean;
  /** Whether everything that was forwarded has been looked at. */
  readonly isUpToDate: () => boolean;
  readonly interject: (line: string) => boolean;
}

export class Injector {
  readonly #options: InjectorOptions;
  readonly #due = new Map<string, AcpRecord>();
  /** What the client was told last of each session in this turn. */
  readonly #said = new Map<string, string>();
  #hasSpoken = false;
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
  saw(sender: Sender, frame: Frame): void {
    if (this.#isSilent) return;
    const isOurs = sender === "agent" && frame.kind === "notification" && isStatus(frame);
    const isComplaint = sender === "client" && frame.kind === "error" && frame.id === null;
    if (isOurs || (isComplaint && this.#hasSpoken)) this.close();
  }

  /** What a display would show now, of one session. */
  show(record: AcpRecord): void {
    const { sessionId, status } = record;
    if (this.#isSilent || sessionId === null) return;
    if (status === "idle") return this.#forget(sessionId);
    this.#due.delete(sessionId);
    this.#due.set(sessionId, record);
    const [oldest = ""] = this.#due.keys();
    if (this.#due.size > INJECTION.sessions) this.#forget(oldest);
    this.#listen();
    this.settled();
  }

  #listen(): void {
    this.#stopListening ??= this.#options.clock.after(INJECTION.listenMs, () => {
      this.#hasListened = true;
      this.settled();
    });
  }

  /** Everything may have been looked at now: what is due is said. */
  settled(): void {
    if (!this.#hasListened || !this.#options.isUpToDate()) return;
    for (const [sessionId, record] of this.#due) this.#say(sessionId, record);
  }

  /** Nothing more is said. Idempotent. */
  close(): void {
    this.#isSilent = true;
    this.#stopListening?.();
    this.#due.clear();
    this.#said.clear();
  }

  #say(sessionId: string, record: AcpRecord): void {
    const { deriver, interject } = this.#options;
    const form = this.#form();
    if (!deriver.hasOpenTurn(sessionId) || form === null) return this.#forget(sessionId);
    const isSo = deriver
      .records()
      .some((now) => now.sessionId === sessionId && isLike(now, record));
    if (!isSo) return void this.#due.delete(sessionId);
    const line = JSON.stringify(statusFrame(form, record));
    const key = JSON.stringify([record.status, record.message, record.currentTask]);
    const isNews = this.#said.get(sessionId) !== key;
    // Not now: at the next occasion, if it is still so then.
    if (isNews && !interject(line)) return;
    this.#due.delete(sessionId);
    if (!isNews) return;
    this.#said.set(sessionId, key);
    this.#hasSpoken = true;
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

function isLike(a: AcpRecord, b: AcpRecord): boolean {
  return a.status === b.status && a.pendingAsks === b.pendingAsks;
}

function isStatus({ method, params }: Extract<Frame, { kind: "notification" }>): boolean {
  if (method === STATUS_METHOD) return true;
  return method === "session/update" && saidIn(params) !== undefined;
}
