/**
 * The load, in a process of its own so that it does not disturb the clock of who measures: agents
 * that send heartbeats, and leases that are acquired and released, let expire, or kept to be looked
 * for at the end.
 *
 *   fill ──▶ the log is there ── a daemon starts on it ──▶ churn ──▶ stop ──▶ tally
 *
 * Work is handed out by the clock and not by the answers: a daemon that is slow gets no less.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  LeaseService,
  RegistryService,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { Caller } from "./caller.ts";
import { fill, type Filled, type Filling } from "./fill.ts";

export interface Churning {
  readonly port: number;
  readonly leasesPerSecond: number;
  readonly heartbeatsPerSecond: number;
}

/** What happened, for whoever compares it with the daemon's state. */
export interface Tally {
  readonly heartbeats: number;
  readonly granted: number;
  readonly released: number;
  readonly leftToExpire: number;
  /** Leases that must be there at the end. */
  readonly kept: readonly { readonly taskId: string; readonly agentId: string; token: string }[];
  readonly highestToken: string;
  readonly failed: number;
  /** Why, of the first few. */
  readonly errors: readonly string[];
}

/** What it is told to do; each is answered when it is done, or begun. */
export interface Orders {
  fill: { readonly order: Filling; readonly answer: readonly string[] };
  churn: { readonly order: Churning; readonly answer: null };
  stop: { readonly order: null; readonly answer: Tally };
}

const CONNECTIONS = 4;
const TICK_MS = 5;
const HOLD_MS = 500;
/** One in so many is left to expire, one in so many kept to the end. */
const EXPIRE_EVERY = 10;
const KEEP_EVERY = 100;
const KEEP_SECONDS = 3600;

class Fleet {
  readonly #agentIds: readonly string[];
  readonly #callers: readonly Caller[];
  readonly #kept: { taskId: string; agentId: string; token: string }[] = [];
  readonly #errors: string[] = [];
  readonly #open = new Set<Promise<void>>();
  #heartbeats = 0;
  #granted: number;
  #released: number;
  #leftToExpire = 0;
  #lastToken = 0n;
  #tasks = 0;
  #isStopped = false;
  #calls = 0;

  constructor({ agentIds, granted }: Filled, port: number) {
    this.#agentIds = agentIds;
    this.#granted = granted;
    this.#released = granted;
    this.#callers = Array.from({ length: CONNECTIONS }, () => new Caller(port));
  }

  get #caller(): Caller {
    this.#calls += 1;
    const caller = this.#callers[this.#calls % CONNECTIONS];
    if (!caller) throw new Error("there is no connection");
    return caller;
  }

  churn({ leasesPerSecond, heartbeatsPerSecond }: Churning): void {
    void this.#byTheClock(leasesPerSecond, () => this.#hold());
    let next = 0;
    void this.#byTheClock(heartbeatsPerSecond, async () => {
      const agentId = this.#agentIds[next % this.#agentIds.length] ?? "";
      next += 1;
      await this.#caller.call(RegistryService.method.heartbeat, { agentId });
      this.#heartbeats += 1;
    });
  }

  async stop(): Promise<Tally> {
    this.#isStopped = true;
    await Promise.all(this.#open);
    for (const caller of this.#callers) caller.close();
    return {
      heartbeats: this.#heartbeats,
      granted: this.#granted,
      released: this.#released,
      leftToExpire: this.#leftToExpire,
      kept: this.#kept,
      highestToken: String(this.#lastToken),
      failed: this.#errors.length,
      errors: this.#errors.slice(0, 5),
    };
  }

  /** A lease of its own: acquired, and most of the time released. */
  async #hold(): Promise<void> {
    this.#tasks += 1;
    const turn = this.#tasks;
    const taskId = `task:${turn}`;
    const agentId = this.#agentIds[(turn * 7919) % this.#agentIds.length] ?? "";
    const isKept = turn % KEEP_EVERY === 0;
    const isLeft = !isKept && turn % EXPIRE_EVERY === 0;
    const ttlSeconds = isKept ? KEEP_SECONDS : isLeft ? 1 : 60;
    const { acquired, lease } = await this.#caller.call(LeaseService.method.acquireLease, {
      taskId,
      agentId,
      ttlSeconds,
    });
    const token = lease?.token?.value ?? 0n;
    if (!acquired || token === 0n) throw new Error(`${taskId} was not granted`);
    if (token > this.#lastToken) this.#lastToken = token;
    this.#granted += 1;
    if (isKept) this.#kept.push({ taskId, agentId, token: String(token) });
    else if (isLeft) this.#leftToExpire += 1;
    else {
      await sleep(HOLD_MS);
      await this.#caller.call(LeaseService.method.releaseLease, {
        taskId,
        agentId,
        token: { value: token },
      });
      this.#released += 1;
    }
  }

  #begin(work: () => Promise<void>): void {
    const under = work()
      .catch((error: unknown) => void this.#errors.push(String(error)))
      .finally(() => this.#open.delete(under));
    this.#open.add(under);
  }

  async #byTheClock(perSecond: number, act: () => Promise<void>): Promise<void> {
    const startMs = performance.now();
    for (let done = 0; !this.#isStopped; await sleep(TICK_MS)) {
      const due = ((performance.now() - startMs) * perSecond) / 1000;
      for (; done < due; done += 1) this.#begin(act);
    }
  }
}

let filled: Filled = { agentIds: [], granted: 0 };
let fleet: Fleet | undefined;

const OBEY: { [Name in keyof Orders]: (order: Orders[Name]["order"]) => Promise<unknown> } = {
  async fill(order) {
    filled = await fill(order);
    return filled.agentIds.slice(0, 1);
  },
  churn(order) {
    fleet = new Fleet(filled, order.port);
    fleet.churn(order);
    return Promise.resolve(null);
  },
  stop: () => fleet?.stop() ?? Promise.resolve(null),
};

process.on("message", ([name, order]: [keyof Orders, never]) => {
  OBEY[name](order).then(
    (answer) => process.send?.(answer),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
