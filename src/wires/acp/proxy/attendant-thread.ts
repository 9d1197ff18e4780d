/**
 * The thread beside a conversation, in which somebody reads along. The conversation needs it for
 * nothing: when it cannot be started, fails or runs out of memory, bytes go on as before.
 *
 *   running ──▶ the conversation is over ──▶ last words ──▶ ended
 *      │                                        └── too late ──▶ stopped
 *      └── failed: complained of, once ──▶ no observer
 */
import { Worker } from "node:worker_threads";
import { unlessLate } from "../../../machine/waiting.ts";
import type { Clock } from "../../../core/clock.ts";
import type { FrameSender } from "../derive/frames.ts";
import type { ProcessExit } from "./agent-process.ts";
import { AttendantFeed, newSeenBytes, type FromAttendant, type ToAttendant } from "./feed.ts";
import { FEED } from "./limits.ts";

export interface AttendantThreadOptions {
  /** The program of the thread. */
  readonly program: URL;
  /** Its worker data, besides the count of bytes it has read. */
  readonly data: object;
  readonly interject: (line: string) => boolean;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export class AttendantThread {
  readonly #worker: Worker;
  readonly #feed: AttendantFeed;
  readonly #clock: Clock;
  readonly #gone: Promise<void>;
  #isGone = false;

  constructor({ program, data, interject, clock, onError }: AttendantThreadOptions) {
    const seen = newSeenBytes();
    this.#clock = clock;
    this.#worker = new Worker(program, {
      workerData: { ...data, seen },
      // Its output, warnings of Node among it, is dropped.
      stdout: true,
      stderr: true,
      resourceLimits: { maxOldGenerationSizeMb: FEED.heapMib },
    });
    this.#feed = new AttendantFeed({ post: (messages) => this.#post(messages), seen, clock });
    this.#worker.on("error", onError);
    this.#worker.on("message", ({ line, seenBytes }: FromAttendant) => {
      const isSaid = this.#feed.isAll(seenBytes) && interject(line);
      this.#post([{ kind: "said", isSaid }]);
    });
    this.#gone = new Promise((resolve) => {
      this.#worker.once("exit", () => {
        this.#isGone = true;
        resolve();
      });
    });
  }

  note(sender: FrameSender, chunk: Buffer): void {
    if (!this.#isGone) this.#feed.note(sender, chunk);
  }

  /** The conversation is over: what is left is looked at and published, within a bounded time. */
  async close(how: ProcessExit | undefined): Promise<void> {
    if (this.#isGone) return;
    this.#feed.flush();
    if (how) this.#post([{ kind: "ended", how }]);
    await unlessLate(this.#clock, how ? FEED.lastMs : 0, this.#gone);
    await this.#worker.terminate();
  }

  #post(messages: readonly ToAttendant[]): void {
    this.#worker.postMessage(messages);
  }
}
