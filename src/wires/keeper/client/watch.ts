/**
 * The daemon's events as one stream that outlives its connections: in order, each once, none left
 * out. It begins when it is made, not when it is first read, so nothing that happens after `ready`
 * is missed. What is not read is not fetched.
 *
 *   opening ──▶ open ──lost, cut, the daemon restarts──▶ opening, after the last sequence seen …
 *      │          └──the log no longer reaches back──▶ one `resync`, then on from now
 *      └──refused, or not open in time──▶ throws
 *
 * A daemon tells where a live stream starts, so even one that was lost before its first event goes
 * on without a gap.
 */
import { codeOf, errorText, RollcallError, wireCodes } from "../../../core/errors.ts";
import type { GrpcReplies } from "../../../net/grpc/client.ts";
import { backOff, pause } from "../../../machine/waiting.ts";
import type { EventSchema } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { FROM_SEQUENCE, SEQUENCE_HEADER } from "../server/metadata.ts";
import { eventFrom, type KeeperResync, type KeeperWatchItem } from "./events.ts";
import { PACE } from "./limits.ts";
import type { KeeperCallOptions, KeeperWire } from "./wire.ts";

export type WatchState =
  | { readonly kind: "open"; readonly after: number | undefined }
  | { readonly kind: "lost"; readonly reason: string; readonly after: number | undefined };

export interface KeeperWatchOptions extends KeeperCallOptions {
  /** Topics begin with one of these; none means every topic. */
  readonly topics?: readonly string[];
  /** The last sequence already seen; absent means from now on. */
  readonly from?: number | undefined;
  readonly onState?: (state: WatchState) => void;
}

interface WatchCall {
  readonly metadata: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly timeoutMs?: number | undefined;
  readonly isPatient?: boolean;
}

type OpenWatch = (opening: WatchCall) => Promise<GrpcReplies<typeof EventSchema>>;

export class KeeperWatch implements AsyncIterable<KeeperWatchItem>, AsyncDisposable {
  readonly #wire: KeeperWire;
  readonly #open: OpenWatch;
  readonly #options: KeeperWatchOptions;
  readonly #stop = new AbortController();
  readonly #letGo: () => void;
  readonly #first: Promise<GrpcReplies<typeof EventSchema>>;
  readonly #items: AsyncGenerator<KeeperWatchItem>;
  #after: number | undefined;
  /** Told with the next item. */
  #resync: KeeperResync | undefined;
  #isOpen = false;
  /** Connections since something last came. */
  #tries = 0;

  constructor(wire: KeeperWire, open: OpenWatch, options: KeeperWatchOptions = {}) {
    this.#wire = wire;
    this.#open = open;
    this.#options = options;
    this.#after = options.from;
    this.#letGo = wire.hold();
    options.signal?.addEventListener("abort", this.#onAbort, { once: true });
    if (options.signal?.aborted) this.#onAbort();
    wire.adopt(this);
    this.#first = this.#connect({ timeoutMs: options.timeoutMs });
    this.#items = this.#follow();
    // The reader gets the error.
    this.#first.catch(() => undefined);
  }

  /** Resolves when nothing that happens from here on will be missed. */
  async ready(): Promise<void> {
    await this.#first;
  }

  /** The last sequence that was told: where another watch would go on. */
  get sequence(): number | undefined {
    return this.#after;
  }

  /** One reader at a time. Ends quietly when it is closed, or the signal aborts. */
  [Symbol.asyncIterator](): AsyncGenerator<KeeperWatchItem> {
    return this.#items;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    this.#stop.abort(new RollcallError("CANCELLED", "this watch is closed"));
    this.#options.signal?.removeEventListener("abort", this.#onAbort);
    this.#letGo();
    this.#wire.dismiss(this);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  readonly #onAbort = () => void this.close();

  async *#follow(): AsyncGenerator<KeeperWatchItem> {
    try {
      let replies = await this.#first;
      for (;;) {
        yield* this.#read(replies);
        await this.#pause();
        replies = await this.#connect({ isPatient: true });
      }
    } catch (error) {
      if (!this.#stop.signal.aborted) throw error;
    } finally {
      await this.close();
    }
  }

  /** Until this connection ends in a way that another may do better. */
  async *#read(replies: GrpcReplies<typeof EventSchema>): AsyncGenerator<KeeperWatchItem> {
    if (this.#resync) yield this.#resync;
    this.#resync = undefined;
    try {
      for await (const message of replies) {
        const item = eventFrom(message);
        this.#tries = 0;
        if (this.#after !== undefined && item.sequence <= this.#after) continue;
        this.#after = item.sequence;
        yield item;
      }
      this.#lost("the daemon ended the stream");
    } catch (error) {
      this.#mayGoOn(error);
    }
  }

  async #connect(
    options: Pick<WatchCall, "timeoutMs" | "isPatient">,
  ): Promise<GrpcReplies<typeof EventSchema>> {
    for (;;) {
      const after = this.#resync ? undefined : this.#after;
      const metadata: Record<string, string> =
        after === undefined ? {} : { [FROM_SEQUENCE]: String(after) };
      try {
        const replies = await this.#open({ ...options, metadata, signal: this.#stop.signal });
        this.#opened(Number(replies.header(SEQUENCE_HEADER) ?? NaN));
        return replies;
      } catch (error) {
        if (!options.isPatient && codeOf(error) !== "OUT_OF_RANGE") throw error;
        this.#mayGoOn(error);
        await this.#pause();
      }
    }
  }

  /** `told` is where a live stream starts. */
  #opened(told: number): void {
    const place = Number.isSafeInteger(told) ? told : undefined;
    if (this.#resync) {
      this.#after = place ?? this.#after ?? 0;
      this.#resync = { ...this.#resync, sequence: this.#after };
    }
    this.#after ??= place;
    this.#isOpen = true;
    this.#options.onState?.({ kind: "open", after: this.#after });
  }

  /** Throws when another connection would end the same way. */
  #mayGoOn(error: unknown): void {
    if (this.#stop.signal.aborted) throw error;
    const code = codeOf(error);
    if (code === "OUT_OF_RANGE") {
      this.#resync = { kind: "resync", after: this.#after, sequence: 0 };
    } else if (wireCodes(code).retry === "never" && code !== "CANCELLED") {
      throw error;
    }
    this.#lost(errorText(error));
  }

  /** Said once for each connection, however often the next one fails. */
  #lost(reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#options.onState?.({ kind: "lost", reason, after: this.#after });
  }

  async #pause(): Promise<void> {
    const { clock, random } = this.#wire;
    const delayMs = this.#tries === 0 ? 0 : backOff(this.#tries - 1, PACE, random);
    this.#tries += 1;
    if (delayMs > 0) await pause(clock, delayMs, this.#stop.signal);
  }
}
