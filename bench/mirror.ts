/**
 * How long a member takes to have the state of a shared log in memory again, with a mirror of the
 * log on its own disk and without one. The log has many events and no snapshot: the longest start
 * there is. Then the same, from the snapshot that a follower keeps in its mirror.
 */
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { provide } from "../scripts/prerequisites.mjs";
import { rules } from "../src/core/rules.ts";
import { capture } from "../src/core/snapshot.ts";
import { load } from "../src/engine/replica.ts";
import { copyStore } from "../src/log/copy.ts";
import { mirroredStore } from "../src/log/mirror/store.ts";
import { fillNats, natsStore } from "../src/log/nats/store.ts";
import { fillPostgres, postgresStore } from "../src/log/postgres/store.ts";
import { sqliteStore } from "../src/log/sqlite/store.ts";
import type { Store } from "../src/log/store.ts";
import { NatsCluster } from "../test/support/nats/server.ts";
import { PostgresServer } from "../test/support/postgres/server.ts";
import { fillWithEvents } from "./cluster/move.ts";
import { conclude, inTurns, isQuick, part, report } from "./measure.ts";

const EVENTS = isQuick ? 100_000 : 1_000_000;
const ROUNDS = 3;

const missing = provide(["postgres", "nats"]);
if (missing.length > 0) {
  throw new Error(`install ${missing.map(({ name }) => name).join(", ")} to measure it`);
}

/** Until the state is there, in seconds. */
async function startSeconds(store: Store): Promise<number> {
  const startedMs = performance.now();
  const { head } = await load(store.log, rules);
  const seconds = (performance.now() - startedMs) / 1000;
  if (head < EVENTS) throw new Error(`only ${head} events were read`);
  await store.close();
  return seconds;
}

/** The first start makes the mirror, beside everything else. */
async function fillMirror(store: Store, path: string): Promise<void> {
  const { head } = await store.log.open();
  for (let isThere = false; !isThere; await delay(100)) {
    const file = sqliteStore({ path, readOnly: true });
    isThere = await file.log.open().then(
      (range) => range.head >= head,
      () => false,
    );
    await file.close();
  }
  await store.close();
}

async function keepSnapshot(store: Store): Promise<void> {
  const { head, state } = await load(store.log, rules);
  if (!(await store.log.mirror?.keep({ sequence: head, chunks: capture(state) }))) {
    throw new Error("the mirror did not keep the snapshot");
  }
  await store.close();
}

async function compare(name: string, folder: string, bare: () => Store): Promise<void> {
  const path = join(folder, `${name}.db`);
  const mirrored = () => mirroredStore({ store: bare(), path });
  await fillMirror(mirrored(), path);
  const [without = 0, replayed = 0] = await inTurns(
    ROUNDS,
    () => startSeconds(bare()),
    () => startSeconds(mirrored()),
  );
  await keepSnapshot(mirrored());
  const [kept = 0] = await inTurns(ROUNDS, () => startSeconds(mirrored()));
  const what = `start of a member on ${name}, ${EVENTS} events`;
  report({ name: `${what}, without a mirror`, value: without, unit: "s" });
  report({ name: `  replayed from its mirror`, value: replayed, unit: "s" });
  report({ name: `  from the snapshot in its mirror`, value: kept, unit: "s" });
  report({
    name: `${name}: replayed from the mirror / without`,
    value: replayed / without,
    unit: "×",
  });
  report({ name: `${name}: kept snapshot / without`, value: kept / without, unit: "×" });
}

await part("starts", async (folder) => {
  const server = await PostgresServer.start({ settings: { shared_buffers: "128MB" } });
  const servers = await NatsCluster.start();
  try {
    const from = sqliteStore({ path: join(folder, "from.db") });
    await fillWithEvents(from, EVENTS);
    const postgres = { url: server.url("starts") };
    const nats = { url: servers.url("starts"), monitors: servers.monitors };
    for (const filling of [fillPostgres(postgres), fillNats(nats)]) {
      await copyStore(from, filling.store);
      await filling.commit();
    }
    await compare("Postgres", folder, () => postgresStore(postgres));
    await compare("NATS", folder, () => natsStore(nats));
    await from.close();
  } finally {
    await server.stop();
    await servers.stop();
  }
});
conclude();
