/**
 * The victim: writes through the engine to the SQLite file it is given, as fast as it can, and
 * prints a line for everything that was acknowledged. It runs until it is killed.
 */
import { createHash } from "node:crypto";
import { sayNow } from "./say.ts";
import { fingerprint } from "../../src/core/snapshot.ts";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { LIBRARY } from "../../src/core/by.ts";

const CALLERS = 16;

const [path = ""] = process.argv.slice(2);
const store = sqliteStore({ path });
const engine = await Engine.open({
  log: store.log,
  // Snapshots are cut off as well; nothing is forgotten, so that all of it can be checked.
  retention: { snapshotEveryEvents: 300, maxEvents: Infinity, maxAgeMs: Infinity },
});

function say(fact: Readonly<Record<string, unknown>>): void {
  sayNow(`${JSON.stringify(fact)}\n`);
}

// A state that is durable: on a busy machine time may have passed, and be an event, by now.
const start = await engine.read((state, head) => ({
  head,
  hash: createHash("sha256").update(fingerprint(state)).digest("hex"),
}));
say({ kind: "started", ...start });

const card = {
  name: "victim",
  description: "",
  version: "1",
  capabilities: [],
  tools: [],
  metadata: {},
};

async function work(caller: number): Promise<never> {
  for (let n = 0; ; n += 1) {
    const { agentId } = await engine.execute(
      { type: "agent.register", card, ttlMs: 30_000 },
      LIBRARY,
    );
    say({ kind: "agent.registered", agentId });
    const taskId = `key:${caller}:${n}`;
    const { lease } = await engine.execute(
      { type: "lease.acquire", taskId, agentId, ttlMs: 0 },
      LIBRARY,
    );
    say({ kind: "lease.acquired", token: lease.token });
    const task = await engine.execute(
      {
        type: "task.create",
        taskType: "work",
        input: "",
        requiredTools: [],
        maxRetries: 3,
        ttlMs: 0,
      },
      LIBRARY,
    );
    say({ kind: "task.created", taskId: task.id });
    const claimed = await engine.execute({ type: "task.claim", agentId }, LIBRARY);
    if (claimed) {
      await engine.execute(
        { type: "task.complete", taskId: claimed.id, agentId, output: "" },
        LIBRARY,
      );
      say({ kind: "task.completed", taskId: claimed.id });
    }
    await engine.execute({ type: "agent.deregister", agentId }, LIBRARY);
    say({ kind: "agent.died", agentId });
  }
}

await Promise.all(Array.from({ length: CALLERS }, (_, caller) => work(caller)));
