/**
 * Tells a person that an agent needs them: once for each question, however often it is reported.
 *
 *              needs, not told before                    room
 *   quiet ────────────────────────────▶ waiting ─────────────────────▶ told
 *     ▲                                    │                            │
 *     └──────────── settled ───────────────┴──────── settled ───────────┘
 *
 * When many agents ask at once the first few get a notice each. The others wait until there is room
 * again, and then share one; an agent that was answered in between gets none.
 */
import type { Clock } from "../core/clock.ts";
import type { NoticeChannel } from "./channels.ts";
import { NOTICES } from "./limits.ts";
import { noticeOf, type Need } from "./notice.ts";

export interface NotifierOptions {
  readonly channels: readonly NoticeChannel[];
  /** Folders of which nothing is told: these and all below them. */
  readonly mutes: readonly string[];
  readonly clock: Clock;
  /** A channel failed to deliver a notice. */
  readonly onError?: (error: unknown, channel: string) => void;
}

export class Notifier implements AsyncDisposable {
  readonly #options: NotifierOptions;
  /** Each agent's question as delivered or waiting for delivery; the latest last. */
  readonly #known = new Map<string, string>();
  readonly #waiting = new Map<string, Need>();
  readonly #closing = new AbortController();
  readonly #underWay = new Set<Promise<void>>();
  /** When the next one may be told, had all before been told in their time. */
  #freeAtMs = -Infinity;
  #cancel: (() => void) | undefined;

  constructor(options: NotifierOptions) {
    this.#options = options;
  }

  /** The daemon that ran before sent this notice already. */
  wasTold({ agentId, reason, question = "" }: Need): void {
    this.#known.set(agentId, `${reason}\0${question}`);
    this.#forgetOldest();
  }

  /** An agent needs a person. Idempotent: one question gives one notice. */
  needs(need: Need): void {
    const { agentId, reason, question = "" } = need;
    if (this.#closing.signal.aborted || this.#isMuted(need.workspace)) return;
    const asked = `${reason}\0${question}`;
    if (this.#known.get(agentId) === asked) return;
    this.#known.delete(agentId);
    this.#known.set(agentId, asked);
    this.#forgetOldest();
    this.#waiting.set(agentId, need);
    this.#tell();
  }

  /** The agent needs no person any more: its next question is new, even if it is the same. */
  settled(agentId: string): void {
    this.#known.delete(agentId);
    this.#waiting.delete(agentId);
  }

  /** Waits for nothing that is still being told. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#cancel?.();
    this.#waiting.clear();
    await Promise.all(this.#underWay);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #isMuted(workspace: string | undefined): boolean {
    if (workspace === undefined) return false;
    return this.#options.mutes.some((mute) => {
      const folder = mute.replace(/\/+$/, "");
      return workspace === folder || workspace.startsWith(`${folder}/`);
    });
  }

  #forgetOldest(): void {
    for (const agentId of this.#known.keys()) {
      if (this.#known.size <= NOTICES.agents) return;
      this.settled(agentId);
    }
  }

  /** Now if there is room, else when there is. */
  #tell(): void {
    if (this.#cancel || this.#waiting.size === 0) return;
    const nowMs = this.#options.clock.monotonicMs();
    const windowMs = NOTICES.everyMs * NOTICES.burst;
    this.#freeAtMs = Math.max(this.#freeAtMs, nowMs - windowMs);
    const delayMs = this.#freeAtMs + NOTICES.everyMs - nowMs;
    if (delayMs > 0) {
      this.#cancel = this.#options.clock.after(delayMs, () => {
        this.#cancel = undefined;
        this.#tell();
      });
      return;
    }
    this.#freeAtMs += NOTICES.everyMs;
    const notice = noticeOf([...this.#waiting.values()]);
    this.#waiting.clear();
    for (const channel of this.#options.channels) {
      const telling = this.#deliver(channel, notice).finally(() => this.#underWay.delete(telling));
      this.#underWay.add(telling);
    }
  }

  async #deliver(channel: NoticeChannel, notice: ReturnType<typeof noticeOf>): Promise<void> {
    const late = new AbortController();
    const cancel = this.#options.clock.after(NOTICES.deliverMs, () => late.abort());
    try {
      await channel.deliver(notice, AbortSignal.any([late.signal, this.#closing.signal]));
    } catch (error) {
      if (!this.#closing.signal.aborted) this.#options.onError?.(error, channel.name);
    } finally {
      cancel();
    }
  }
}
