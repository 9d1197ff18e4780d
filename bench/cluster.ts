/**
 * What a log that members share costs, against the SQLite file of one machine beside it: the real
 * engine with 512 callers, where group commit hides the round trips, and one append at a time,
 * where nothing does. Then appends beside a snapshot. Postgres is one server here, without a
 * standby, with fsync, on the same disk.
 */
import { join } from "node:path";
import { provide } from "../scripts/prerequisites.mjs";
import { postgresStore } from "../src/log/postgres/store.ts";
import { sqliteStore } from "../src/log/sqlite/store.ts";
import type { Store } from "../src/log/store.ts";
import { PostgresServer } from "../test/support/postgres/server.ts";
import { appendRate, besideSnapshot, engineRate } from "./cluster/commands.ts";
import { conclude, inTurns, isQuick, measuredInTurns, part, report } from "./measure.ts";

const CALLERS = 512;
const COMMANDS = isQuick ? 20_480 : 51_200;
const ROUNDS = 5;
const BATCHES = [1, 16, 256];
const SNAPSHOT_BYTES = isQuick ? 24 << 20 : 100 << 20;

const missing = provide(["postgres"]);
if (missing.length > 0) throw new Error("install postgresql to compare with it");

let stores = 0;

function sqliteIn(folder: string): Store {
  stores += 1;
  return sqliteStore({ path: join(folder, `bench-${stores}.db`) });
}

function postgresOn(server: PostgresServer): Store {
  stores += 1;
  return postgresStore({ url: server.url(`bench_${stores}`) });
}

const server = await PostgresServer.start({ settings: { shared_buffers: "128MB" } });
try {
  await part("engine", async (folder) => {
    const [sqlite = 0, postgres = 0] = await inTurns(
      ROUNDS,
      () => engineRate(sqliteIn(folder), CALLERS, COMMANDS),
      () => engineRate(postgresOn(server), CALLERS, COMMANDS),
    );
    const unit = "commands/s";
    report({ name: `engine on SQLite, ${CALLERS} callers`, value: sqlite, unit });
    report({ name: `engine on Postgres, ${CALLERS} callers`, value: postgres, unit });
    const target = { atLeast: 0.5 };
    report({ name: "Postgres / SQLite, engine", value: postgres / sqlite, unit: "×", target });
  });
  await part("appends", async (folder) => {
    for (const batch of BATCHES) {
      const load = { appends: Math.ceil(1_000 / Math.sqrt(batch)), batch };
      const [sqlite, postgres] = await measuredInTurns(ROUNDS, [
        () => appendRate(sqliteIn(folder), load),
        () => appendRate(postgresOn(server), load),
      ]);
      const what = `one at a time, ${batch} ${batch === 1 ? "entry" : "entries"} each`;
      report({ name: `appends to Postgres, ${what}`, value: postgres.perSecond, unit: "/s" });
      report({ name: `  p50`, value: postgres.p50Ms ?? NaN, unit: "ms" });
      report({ name: `  p99`, value: postgres.p99Ms, unit: "ms" });
      const ratio = postgres.perSecond / sqlite.perSecond;
      report({ name: `Postgres / SQLite, ${what}`, value: ratio, unit: "×" });
    }
  });
  await part("snapshot", async () => {
    const [alone, beside] = await measuredInTurns(3, [
      () => appendRate(postgresOn(server), { appends: 1_000, batch: 1 }),
      () => besideSnapshot(postgresOn(server), SNAPSHOT_BYTES),
    ]);
    report({ name: "appends to Postgres alone, p99", value: alone.p99Ms, unit: "ms" });
    const name = `appends beside a snapshot of ${SNAPSHOT_BYTES >> 20} MiB, p99`;
    report({ name, value: beside.p99Ms, unit: "ms" });
    const value = beside.p99Ms / alone.p99Ms;
    report({ name: "beside a snapshot / alone, p99", value, unit: "×", target: { atMost: 2 } });
  });
} finally {
  await server.stop();
}
conclude();
