/**
 * Durable commands of the engine against the floor: a bare SQLite group commit of the same bytes,
 * for as many callers.
 */
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { LIBRARY } from "../../src/core/by.ts";
import { encode } from "../../src/core/events.ts";
import { Engine } from "../../src/engine/engine.ts";
import { connect, transaction } from "../../src/log/sqlite/driver.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { rate } from "../measure.ts";

export const CALLERS = 512;
const CARD = {
  name: "agent-0",
  description: "Fetches and parses web pages",
  version: "1.0.0",
  capabilities: [],
  tools: ["browser", "http_client"],
  metadata: {},
};
const ROW = encode(
  {
    type: "lease.acquired",
    lease: {
      taskId: "task:100:100",
      holder: randomUUID().replaceAll("-", ""),
      token: 100_000,
      ttlMs: 60_000,
      acquiredAtMs: Date.now(),
      expiresAtMs: Date.now() + 60_000,
    },
  },
  Date.now(),
);

export class CommitRace {
  readonly #folder: string;
  readonly #commands: number;
  #files = 0;

  constructor(folder: string, commands: number) {
    this.#folder = folder;
    this.#commands = commands;
  }

  /** `CALLERS` callers that each acquire and release a lease of their own, over and over. */
  async engineRate(): Promise<number> {
    const store = sqliteStore({ path: this.#newFile() });
    const engine = await Engine.open({ log: store.log });
    const { agentId } = await engine.execute(
      { type: "agent.register", card: CARD, ttlMs: 0 },
      LIBRARY,
    );
    const caller = async (i: number) => {
      for (let n = 0; n < this.#commands / CALLERS / 2; n += 1) {
        const taskId = `task:${i}:${n}`;
        const about = { taskId, agentId };
        const { lease } = await engine.execute(
          { type: "lease.acquire", ...about, ttlMs: 0 },
          LIBRARY,
        );
        await engine.execute({ type: "lease.release", ...about, token: lease.token }, LIBRARY);
      }
    };
    const perSecond = await this.#rateOf(caller);
    await engine.close();
    await store.close();
    return perSecond;
  }

  /** The same bytes, a transaction of one row each for whoever is waiting. */
  async bareRate(): Promise<number> {
    const database = await connect(this.#newFile());
    database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE e (text TEXT)");
    const insert = database.prepare("INSERT INTO e (text) VALUES (?)");
    let waiting: (() => void)[] = [];
    const commit = () => {
      const batch = waiting;
      waiting = [];
      transaction(database, () => {
        for (let i = 0; i < batch.length; i += 1) insert.run(ROW);
      });
      for (const resolve of batch) resolve();
    };
    const durable = () =>
      new Promise<void>((resolve) => {
        if (waiting.length === 0) setImmediate(commit);
        waiting.push(resolve);
      });
    const perSecond = await this.#rateOf(async () => {
      for (let n = 0; n < this.#commands / CALLERS; n += 1) await durable();
    });
    database.close();
    return perSecond;
  }

  #newFile(): string {
    this.#files += 1;
    return join(this.#folder, `race-${this.#files}.db`);
  }

  #rateOf(caller: (i: number) => Promise<void>): Promise<number> {
    return rate(this.#commands, async () => {
      await Promise.all(Array.from({ length: CALLERS }, (_, i) => caller(i)));
    });
  }
}
