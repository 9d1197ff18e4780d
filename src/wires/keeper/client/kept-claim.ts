/**
 * A claim that is kept while its task is worked on: renewed by heartbeats that name the task, and
 * known to be lost no later than another agent can get it.
 *
 * It is unknown when the daemon made the claim (the call may have waited for hours), so until the
 * first renewal it counts from when it was heard of; the token covers the difference. A daemon that
 * does not tell how long a claim lasts is taken at its word: the claim lasts as long as the agent.
 */
import { RollcallError } from "../../../core/errors.ts";
import { markOf } from "../../../core/clock.ts";
import { RegistryService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { RENEW_TASK } from "../server/metadata.ts";
import type { Life } from "./presence.ts";
import { Renewal } from "./renewal.ts";
import { claimMetadata, type KeeperClaim } from "./tasks.ts";
import type { KeeperWire } from "./wire.ts";

export class KeptClaim {
  readonly claim: KeeperClaim;
  readonly #life: Life;
  readonly #abort = new AbortController();
  readonly #renewal: Renewal | undefined;
  #isLost = false;

  constructor(wire: KeeperWire, claim: KeeperClaim, life: Life) {
    this.claim = claim;
    this.#life = life;
    const { ttlMs } = claim;
    this.#renewal = ttlMs === undefined ? undefined : this.#keep(wire, ttlMs);
    life.signal.addEventListener("abort", this.#onDeath, { once: true });
    if (life.signal.aborted) this.#onDeath();
  }

  /** Aborts when the claim is lost, or the work on it is stopped. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** Whether somebody else may have the task by now. */
  get isLost(): boolean {
    return this.#isLost;
  }

  /** Tells the handler to stop; the claim is still ours to end. */
  stop(reason: RollcallError): void {
    this.#abort.abort(reason);
  }

  /** No more renewals. */
  end(): void {
    this.#renewal?.stop();
    this.#life.signal.removeEventListener("abort", this.#onDeath);
  }

  #keep(wire: KeeperWire, ttlMs: number): Renewal {
    const { task, agentId } = this.claim;
    const metadata = { ...claimMetadata(this.claim), [RENEW_TASK]: task.id };
    return new Renewal({
      clock: wire.clock,
      random: wire.random,
      ttlMs,
      since: markOf(wire.clock),
      refusals: ["WRONG_STATE", "NOT_FOUND", "NOT_HOLDER", "PERMISSION_DENIED"],
      alsoLeftMs: () => this.#life.leftMs(),
      renew: async (options) => {
        const sent = { ...options, metadata, isBackground: true };
        await wire.call(RegistryService.method.heartbeat, { agentId }, sent);
      },
      onDoubt: () => this.#lose("no renewal got through in time"),
      onRefusal: (error) => this.#lose(error.message, error),
    });
  }

  readonly #onDeath = () => {
    const reason: unknown = this.#life.signal.reason;
    this.#lose(reason instanceof Error ? reason.message : "its agent is gone", reason);
  };

  #lose(why: string, cause?: unknown): void {
    this.#isLost = true;
    this.end();
    const message = `the claim on task ${this.claim.task.id} is lost: ${why}`;
    this.#abort.abort(new RollcallError("NOT_HOLDER", message, { cause }));
  }
}
