/**
 * A lease in hand: kept by renewals for as long as the handle is, and known to be lost no later
 * than anybody else can get it.
 *
 *   held ──renewed──▶ held …
 *     │ release, dispose ──▶ released
 *     └ refused, or not proven any more ──▶ lost: the signal aborts
 *
 * A handle never goes back from lost to held, even if the daemon would have waited: work that
 * was told to stop has stopped. Acquiring again is cheap, and gives the same lease if nobody came
 * between.
 */
import { RollcallError } from "../../../core/errors.ts";
import type { Mark } from "../../../core/clock.ts";
import { LeaseService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { leaseFrom, secondsOf } from "./from-wire.ts";
import { PACE } from "./limits.ts";
import type { Life } from "./presence.ts";
import { Renewal, type RenewalCall } from "./renewal.ts";
import type { LeaseInfo } from "./types.ts";
import type { KeeperWire } from "./wire.ts";

export interface LeaseGrant {
  readonly info: LeaseInfo;
  readonly ttlMs: number;
  /** Taken before it was asked for. */
  readonly since: Mark;
  /** Of the holder, if it is an agent of this client. */
  readonly life?: Life | undefined;
}

/** A lease, as its holder sees it. */
export interface LeaseHandle extends AsyncDisposable {
  readonly taskId: string;
  readonly holder: string;
  /** To be sent along with whatever is done under the lease: who gets an older one can refuse. */
  readonly token: number;
  /** By the daemon's clock; moves with every renewal. */
  readonly expiresAtMs: number;
  /** Aborts when the lease is lost, with the reason, and when it is released. */
  readonly signal: AbortSignal;
  /** Whether it is surely held now. */
  readonly isHeld: boolean;
  /**
   * Gives it back. Idempotent; a daemon that cannot be reached lets it go when its time is up, so
   * that is no error.
   */
  release(): Promise<void>;
}

export class HeldLease implements LeaseHandle {
  readonly #wire: KeeperWire;
  readonly #ttlMs: number;
  readonly #abort = new AbortController();
  readonly #renewal: Renewal;
  readonly #life: Life | undefined;
  #info: LeaseInfo;
  #releasing: Promise<void> | undefined;
  /** Not ours to give back. */
  #isGone = false;
  #onReleased: () => void = () => undefined;

  constructor(wire: KeeperWire, { info, ttlMs, since, life }: LeaseGrant) {
    this.#wire = wire;
    this.#info = info;
    this.#ttlMs = ttlMs;
    this.#life = life;
    this.#renewal = new Renewal({
      clock: wire.clock,
      random: wire.random,
      ttlMs,
      since,
      refusals: ["NOT_FOUND", "NOT_HOLDER", "PERMISSION_DENIED"],
      ...(life && { alsoLeftMs: () => life.leftMs() }),
      renew: (options) => this.#renew(options),
      onDoubt: () => this.#lose("no renewal got through in time: another agent may hold it"),
      onRefusal: (error) => this.#refused(error),
    });
    life?.signal.addEventListener("abort", this.#onDeath, { once: true });
    if (life?.signal.aborted) this.#onDeath();
    wire.adopt(this);
  }

  get taskId(): string {
    return this.#info.taskId;
  }

  get token(): number {
    return this.#info.token;
  }

  get holder(): string {
    return this.#info.holder;
  }

  get expiresAtMs(): number {
    return this.#info.expiresAtMs;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isHeld(): boolean {
    if (this.#abort.signal.aborted) return false;
    if (!this.#renewal.isProven) this.#lose("its time has passed without a renewal");
    return !this.#abort.signal.aborted;
  }

  release(): Promise<void> {
    this.#releasing ??= this.#release();
    return this.#releasing;
  }

  close(): Promise<void> {
    return this.release();
  }

  /** It is somebody else's to give back now; resolves when no word of ours is under way. */
  async forsake(): Promise<void> {
    this.#isGone = true;
    await this.#releasing;
  }

  /** Calls when it was given back. */
  onReleased(tell: () => void): void {
    this.#onReleased = tell;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.release();
  }

  async #release(): Promise<void> {
    this.#end(new RollcallError("CANCELLED", `the lease on ${this.taskId} was released`));
    if (!this.#isGone) await this.#giveBack();
    this.#onReleased();
  }

  async #giveBack(): Promise<void> {
    const { taskId, token, holder } = this.#info;
    const request = { taskId, agentId: holder, token: { value: BigInt(token) } };
    await this.#wire
      .call(LeaseService.method.releaseLease, request, { timeoutMs: PACE.farewellMs })
      .catch(() => undefined);
  }

  async #renew(sent: RenewalCall): Promise<void> {
    const { taskId, token, holder } = this.#info;
    const { lease } = await this.#wire.call(
      LeaseService.method.renewLease,
      {
        taskId,
        agentId: holder,
        token: { value: BigInt(token) },
        ttlSeconds: secondsOf(this.#ttlMs),
      },
      { ...sent, isBackground: true },
    );
    this.#info = leaseFrom(lease);
  }

  #refused(error: RollcallError): void {
    this.#isGone = true;
    this.#lose(error.message, error);
  }

  readonly #onDeath = () => {
    const reason: unknown = this.#life?.signal.reason;
    this.#isGone = true;
    this.#lose(reason instanceof Error ? reason.message : "its agent is gone", reason);
  };

  #lose(why: string, cause?: unknown): void {
    const message = `the lease on ${this.taskId} is lost: ${why}`;
    this.#end(new RollcallError("NOT_HOLDER", message, { cause }));
  }

  #end(reason: RollcallError): void {
    this.#renewal.stop();
    this.#life?.signal.removeEventListener("abort", this.#onDeath);
    this.#wire.dismiss(this);
    this.#abort.abort(reason);
  }
}
