/**
 * Standing for the lead of a group, for as long as the handle is open.
 *
 *   standing by ──elected──▶ leading ──resigns, dies, is deposed──▶ standing by …
 *                              └── no word with the daemon for the agent's ttl ──▶ not leading, for
 *                                  all we know; again when there is, if nobody else was elected
 *
 * The leader is known by the election's own events, without a gap; one that died and came back
 * stands again under its new id. Each term as leader has its own signal: work as the leader stops
 * when it aborts.
 */
import { codeOf, RollcallError } from "../../../core/errors.ts";
import { linked, reasonOf, unlessAborted } from "../../../machine/waiting.ts";
import { ElectionService } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Bell } from "./bell.ts";
import { electionFrom } from "./from-wire.ts";
import { PACE } from "./limits.ts";
import type { Life, AgentPresence } from "./presence.ts";
import type { ElectionState } from "./types.ts";
import { KeeperWatch } from "./watch.ts";
import type { KeeperCallOptions, KeeperWire } from "./wire.ts";

/** One time of leading. */
export interface LeaderTerm {
  readonly term: number;
  /** Aborts when it is over, or can no longer be proven. */
  readonly signal: AbortSignal;
}

export interface CampaignState extends ElectionState {
  /** Whether this candidate surely leads. */
  readonly isLeader: boolean;
}

export class Campaign implements AsyncDisposable {
  readonly group: string;
  readonly #wire: KeeperWire;
  readonly #presence: AgentPresence;
  readonly #watch: KeeperWatch;
  readonly #closed = new AbortController();
  readonly #stopListening: () => void;
  #election: ElectionState;
  #leadership: { readonly term: number; readonly abort: AbortController } | undefined;
  readonly #changed = new Bell();
  #resigning: Promise<void> | undefined;

  private constructor(wire: KeeperWire, presence: AgentPresence, joined: Candidacy) {
    this.group = joined.election.group;
    this.#wire = wire;
    this.#presence = presence;
    this.#watch = joined.watch;
    this.#election = joined.election;
    this.#stopListening = presence.onState((state) => {
      if (state.kind === "alive" && state.formerId !== undefined) void this.#stand();
      if (state.kind === "dead" && state.isFinal) this.#closed.abort(state.reason);
      this.#judge();
    });
    this.#judge();
    void this.#follow();
    wire.adopt(this);
  }

  static async begin(
    wire: KeeperWire,
    presence: AgentPresence,
    options: KeeperCallOptions & { readonly group: string },
  ): Promise<Campaign> {
    const { group, signal, timeoutMs } = options;
    // The watch first: what happens between the two is told by both, and the later term counts.
    const watch = new KeeperWatch(
      wire,
      (opening) => wire.open(ElectionService.method.watchElection, { group }, opening),
      { timeoutMs },
    );
    try {
      await (signal ? unlessAborted(watch.ready(), signal) : watch.ready());
      const election = await stand(wire, presence.life, { group, signal, timeoutMs });
      return new Campaign(wire, presence, { watch, election });
    } catch (error) {
      await watch.close();
      throw error;
    }
  }

  get isLeader(): boolean {
    return this.#leadership !== undefined && this.#presence.life.isConfirmed;
  }

  /** The leader, as far as is known; absent while there is none. */
  get leader(): string | undefined {
    return this.#election.leader;
  }

  get term(): number {
    return this.#election.term;
  }

  /** Resolves while this candidate leads, or as soon as it does. */
  async elected({ signal }: Pick<KeeperCallOptions, "signal"> = {}): Promise<LeaderTerm> {
    const stop = linked(this.#closed.signal, signal);
    try {
      for (;;) {
        if (stop.signal.aborted) throw reasonOf(stop.signal);
        const leading = this.#leadership;
        if (leading) return { term: leading.term, signal: leading.abort.signal };
        await unlessAborted(this.#changed.next(), stop.signal);
      }
    } finally {
      stop.unlink();
    }
  }

  /** The state now, and whenever it is another; a slow reader gets the latest. */
  async *changes({
    signal,
  }: Pick<KeeperCallOptions, "signal"> = {}): AsyncGenerator<CampaignState> {
    const stop = linked(this.#closed.signal, signal);
    try {
      while (!stop.signal.aborted) {
        const next = this.#changed.next();
        yield { ...this.#election, isLeader: this.isLeader };
        await unlessAborted(next, stop.signal).catch(() => undefined);
      }
    } finally {
      stop.unlink();
    }
  }

  /** Leaves the group; the candidate that waited longest takes over at once. Idempotent. */
  resign(): Promise<void> {
    this.#resigning ??= this.#resign();
    return this.#resigning;
  }

  close(): Promise<void> {
    return this.resign();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.resign();
  }

  async #resign(): Promise<void> {
    const { group } = this;
    this.#closed.abort(new RollcallError("CANCELLED", `the campaign for ${group} has ended`));
    this.#stopListening();
    this.#judge();
    this.#wire.dismiss(this);
    await this.#watch.close();
    const { id, signal } = this.#presence.life;
    if (signal.aborted) return;
    await this.#wire
      .call(ElectionService.method.resign, { group, agentId: id }, { timeoutMs: PACE.farewellMs })
      .catch(() => undefined);
  }

  async #follow(): Promise<void> {
    try {
      for await (const item of this.#watch) {
        if (item.kind === "event" && item.topic === "leader.changed") this.#hear(item.election);
        if (item.kind === "resync") void this.#stand();
      }
    } catch (error) {
      // The leader is no longer known.
      this.#closed.abort(error);
      this.#judge();
    }
  }

  /** Again: after a new life, or when events were missed. The answer says who leads. */
  async #stand(): Promise<void> {
    const { life } = this.#presence;
    const { signal, unlink } = linked(life.signal, this.#closed.signal);
    try {
      this.#hear(await stand(this.#wire, life, { group: this.group, signal, isPatient: true }));
    } catch (error) {
      if (signal.aborted) return;
      if (codeOf(error) !== "NOT_FOUND") this.#closed.abort(error);
      this.#judge();
    } finally {
      unlink();
    }
  }

  #hear(election: ElectionState): void {
    if (election.term < this.#election.term) return;
    this.#election = election;
    this.#judge();
  }

  /** Whether we lead, by all that is known now. */
  #judge(): void {
    const { life } = this.#presence;
    const { leader, term } = this.#election;
    const leads = leader === life.id && life.isConfirmed && !this.#closed.signal.aborted;
    if (this.#leadership && (!leads || this.#leadership.term !== term)) {
      this.#leadership.abort.abort(this.#whyNot(life));
      this.#leadership = undefined;
    }
    if (leads) this.#leadership ??= { term, abort: new AbortController() };
    this.#changed.ring();
  }

  #whyNot(life: Life): RollcallError {
    const { leader, term } = this.#election;
    if (this.#closed.signal.aborted) return reasonOf(this.#closed.signal);
    if (life.signal.aborted) return reasonOf(life.signal);
    const why =
      leader === life.id
        ? "the daemon could not be reached in time: another may have been elected"
        : `${leader ?? "no agent"} leads in term ${term}`;
    return new RollcallError("NOT_HOLDER", `no longer the leader of ${this.group}: ${why}`);
  }
}

interface Candidacy {
  readonly watch: KeeperWatch;
  readonly election: ElectionState;
}

async function stand(
  wire: KeeperWire,
  { id }: Life,
  {
    group,
    ...options
  }: KeeperCallOptions & { readonly group: string; readonly isPatient?: boolean },
): Promise<ElectionState> {
  const { campaign } = ElectionService.method;
  return electionFrom((await wire.call(campaign, { group, agentId: id }, options)).state);
}
