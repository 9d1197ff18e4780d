/** For tests of the engine: a clock moved by hand, and a log that fails or waits on demand. */
import type { AgentCard } from "../../../src/core/agents.ts";
import type {
  AppendBatch,
  AppendOptions,
  Log,
  LogBatch,
  LogLimits,
  LogPosition,
  LogRange,
  Snapshot,
  StoredSnapshot,
} from "../../../src/log/log.ts";
import { memoryStore } from "../../../src/log/memory/store.ts";
import type { Clock } from "../../../src/core/clock.ts";
import { Engine } from "../../../src/engine/engine.ts";
import type { EngineOptions } from "../../../src/engine/options.ts";
import { LIBRARY } from "../../../src/core/by.ts";

export const START_MS = 1_700_000_000_000;

export class TestClock implements Clock {
  #nowMs = 0;
  #wallOffsetMs = START_MS;
  readonly #timers = new Set<{ readonly atMs: number; readonly call: () => void }>();

  wallMs(): number {
    return this.#nowMs + this.#wallOffsetMs;
  }

  monotonicMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  soon(call: () => void): void {
    setImmediate(call);
  }

  /** The clock on the wall is set; no time goes by. */
  stepWall(byMs: number): void {
    this.#wallOffsetMs += byMs;
  }

  /** Time goes by while the process is stopped: nothing rings until it wakes. */
  suspend(forMs: number): void {
    this.#nowMs += forMs;
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Time goes by; whatever rings, rings in order, and what it sets off is let finish. */
  async advance(byMs: number): Promise<void> {
    const untilMs = this.#nowMs + byMs;
    for (;;) {
      await quiet();
      const next = [...this.#timers].toSorted((a, b) => a.atMs - b.atMs)[0];
      if (!next || next.atMs > untilMs) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.call();
    }
    this.#nowMs = untilMs;
    await quiet();
  }
}

/** Everything that does not wait for time has happened. */
export async function quiet(): Promise<void> {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** A log in memory whose appends can be held back and made to fail. */
export class TestLog implements Log {
  readonly inner: Log;
  /** What the coming appends do instead: the error, and whether they write all the same. */
  faults: { readonly error: Error; readonly isWritten: boolean }[] = [];
  /** Appends wait here while it is set. */
  gate: Promise<void> | undefined;
  appends = 0;

  constructor(inner: Log = memoryStore().log) {
    this.inner = inner;
  }

  get shared(): boolean {
    return this.inner.shared;
  }

  get limits(): LogLimits {
    return this.inner.limits;
  }

  open(): Promise<LogRange> {
    return this.inner.open();
  }

  async append(batch: AppendBatch, at: LogPosition, options: AppendOptions): Promise<LogPosition> {
    this.appends += 1;
    await this.gate;
    const fault = this.faults.shift();
    if (!fault) return this.inner.append(batch, at, options);
    if (fault.isWritten) await this.inner.append(batch, at, options);
    throw fault.error;
  }

  read(after: number, afterId?: string): AsyncIterable<LogBatch> {
    return this.inner.read(after, afterId);
  }

  follow(after: number, afterId: string | undefined, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.inner.follow(after, afterId, signal);
  }

  saveSnapshot(snapshot: Snapshot): Promise<void> {
    return this.inner.saveSnapshot(snapshot);
  }

  loadSnapshot(atOrBefore: number): Promise<StoredSnapshot | undefined> {
    return this.inner.loadSnapshot(atOrBefore);
  }

  truncate(through: number): Promise<void> {
    return this.inner.truncate(through);
  }

  close(): Promise<void> {
    return this.inner.close();
  }

  /** Holds appends back until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.gate = new Promise((resolve) => {
      release = () => {
        this.gate = undefined;
        resolve();
      };
    });
    return release;
  }
}

export interface Fixture {
  readonly engine: Engine;
  readonly clock: TestClock;
  readonly log: TestLog;
  readonly troubles: string[];
}

let ids = 0;

function newId(): string {
  ids += 1;
  return ids.toString(16).padStart(32, "0");
}

export async function openEngine(options: Partial<EngineOptions> = {}): Promise<Fixture> {
  const clock = options.clock instanceof TestClock ? options.clock : new TestClock();
  const log = options.log instanceof TestLog ? options.log : new TestLog(options.log);
  const troubles: string[] = [];
  const engine = await Engine.open({
    node: "solo",
    newId,
    random: () => 0.5,
    onTrouble: (what) => troubles.push(what),
    ...options,
    clock,
    log,
  });
  return { engine, clock, log, troubles };
}

export const CARD: AgentCard = {
  name: "scraper-1",
  description: "Fetches and parses web pages",
  version: "1.0.0",
  capabilities: [],
  tools: ["browser"],
  metadata: {},
};

export async function register(engine: Engine, ttlMs = 30_000): Promise<string> {
  const agent = await engine.execute({ type: "agent.register", card: CARD, ttlMs }, LIBRARY);
  return agent.agentId;
}
