/**
 * What a log that members share costs, against the SQLite file of one machine beside it: the real
 * engine with 512 callers, where group commit hides the round trips, and one append at a time,
 * where nothing does; then followers, heartbeats at several members, fail-overs, appends beside a
 * snapshot, and the move of a file. Postgres is one server here, without a standby, with fsync;
 * NATS and etcd are three servers each, which sync every append. All of them are on the same disk.
 */
import { join } from "node:path";
import { provide } from "../scripts/prerequisites.mjs";
import { natsStore } from "../src/log/nats/store.ts";
import { postgresStore } from "../src/log/postgres/store.ts";
import { sqliteStore } from "../src/log/sqlite/store.ts";
import type { Store } from "../src/log/store.ts";
import { NatsCluster } from "../test/support/nats/server.ts";
import { PostgresServer } from "../test/support/postgres/server.ts";
import { appendRate, besideSnapshot, engineRate } from "./cluster/commands.ts";
import { EtcdCluster } from "./cluster/etcd.ts";
import { compareFailovers } from "./cluster/failover.ts";
import { barriersOf, watchLag } from "./cluster/followers.ts";
import { heartbeatCost } from "./cluster/heartbeats.ts";
import { fillWithEvents, moveSeconds } from "./cluster/move.ts";
import { conclude, inTurns, isQuick, measuredInTurns, part, report } from "./measure.ts";
import type { Measured } from "./measure.ts";

const CALLERS = 512;
const COMMANDS = isQuick ? 20_480 : 51_200;
const ROUNDS = 5;
const BATCHES = [1, 16, 256];
const MOVED_EVENTS = isQuick ? 100_000 : 1_000_000;
const WATCHED = isQuick ? 200 : 1_000;
const READERS = 1_000;
const AGENTS = isQuick ? 10_000 : 100_000;
const HEARTBEATS = isQuick ? 20_000 : 200_000;
const SNAPSHOT_BYTES = isQuick ? 24 << 20 : 100 << 20;

const missing = provide(["postgres", "nats", "etcd"]);
if (missing.length > 0) {
  throw new Error(`install ${missing.map(({ name }) => name).join(", ")} to compare with it`);
}

let stores = 0;

function sqliteIn(folder: string): Store {
  stores += 1;
  return sqliteStore({ path: join(folder, `bench-${stores}.db`) });
}

function postgresOn(on: PostgresServer, number = (stores += 1)): Store {
  return postgresStore({ url: on.url(`bench_${number}`) });
}

/** Its streams go when it is closed: servers keep those in step that nobody uses, too. */
function natsOn(on: NatsCluster, number = (stores += 1)): Store {
  const name = `bench-${number}`;
  const store = natsStore({ url: on.url(name), monitors: on.monitors });
  const close = async () => {
    await store.close();
    for (const stream of [`rollcall_${name}`, `rollcall_${name}_snapshots`]) {
      await on.call(`STREAM.DELETE.${stream}`).catch(() => undefined);
    }
  };
  return { ...store, close };
}

const server = await PostgresServer.start({ settings: { shared_buffers: "128MB" } });
const servers = await NatsCluster.start();
try {
  await part("engine", async (folder) => {
    const [sqlite = 0, postgres = 0, nats = 0] = await inTurns(
      ROUNDS,
      () => engineRate(sqliteIn(folder), CALLERS, COMMANDS),
      () => engineRate(postgresOn(server), CALLERS, COMMANDS),
      () => engineRate(natsOn(servers), CALLERS, COMMANDS),
    );
    const unit = "commands/s";
    report({ name: `engine on SQLite, ${CALLERS} callers`, value: sqlite, unit });
    report({ name: `engine on Postgres, ${CALLERS} callers`, value: postgres, unit });
    report({ name: `engine on NATS, ${CALLERS} callers`, value: nats, unit });
    const target = { atLeast: 0.5 };
    report({ name: "Postgres / SQLite, engine", value: postgres / sqlite, unit: "×", target });
    report({ name: "NATS / SQLite, engine", value: nats / sqlite, unit: "×", target });
  });
  await part("appends", async (folder) => {
    const etcds = await EtcdCluster.start(folder);
    try {
      for (const batch of BATCHES) await compareAppends(folder, etcds, batch);
    } finally {
      await etcds.stop();
    }
  });
  await part("followers", async () => {
    await lookAtFollowers("Postgres", (number) => postgresOn(server, number));
    await lookAtFollowers("NATS", (number) => natsOn(servers, number));
  });
  await part("heartbeats", async () => {
    const cost = await heartbeatCost({ agents: AGENTS, heartbeats: HEARTBEATS });
    const name = `leader, a heartbeat of one of ${AGENTS} agents`;
    report({ name: `${name}, all at it`, value: cost.aloneUs, unit: "µs processor time" });
    report({ name: `${name}, at three members`, value: cost.spreadUs, unit: "µs processor time" });
    const value = cost.spreadUs / cost.aloneUs;
    report({ name: "at three members / all at it", value, unit: "×", target: { atMost: 1.5 } });
    const between = "between members, a heartbeat at one that follows";
    report({ name: between, value: cost.bytes, unit: "bytes", target: { atMost: 64 } });
  });
  await part("failover", async () => {
    await compareFailovers("Postgres", "postgres");
    await compareFailovers("NATS", "nats");
  });
  await part("snapshot", async () => {
    await compareSnapshots("Postgres", () => postgresOn(server));
    await compareSnapshots("NATS", () => natsOn(servers));
  });
  await part("move", async (folder) => {
    const from = sqliteIn(folder);
    await fillWithEvents(from, MOVED_EVENTS);
    const value = await moveSeconds(from, server.url("moved"));
    await from.close();
    const name = `migrate ${MOVED_EVENTS} events from SQLite to Postgres`;
    report({ name, value, unit: "s", target: { atMost: 60 } });
  });
} finally {
  await server.stop();
  await servers.stop();
}
conclude();

async function compareAppends(folder: string, etcds: EtcdCluster, batch: number): Promise<void> {
  const load = { appends: Math.ceil(1_000 / Math.sqrt(batch)), batch };
  const [sqlite, postgres, nats, etcd] = await measuredInTurns(ROUNDS, [
    () => appendRate(sqliteIn(folder), load),
    () => appendRate(postgresOn(server), load),
    () => appendRate(natsOn(servers), load),
    () => etcds.appendRate(`bench-${(stores += 1)}`, load),
  ]);
  const what = `one at a time, ${batch} ${batch === 1 ? "entry" : "entries"} each`;
  for (const [name, measured] of [
    ["Postgres", postgres],
    ["NATS", nats],
    ["etcd", etcd],
  ] as const) {
    report({ name: `appends to ${name}, ${what}`, value: measured.perSecond, unit: "/s" });
    report({ name: `  p50`, value: measured.p50Ms ?? NaN, unit: "ms" });
    report({ name: `  p99`, value: measured.p99Ms, unit: "ms" });
  }
  const ratio = (over: Measured, under: Measured) => over.perSecond / under.perSecond;
  report({ name: `Postgres / SQLite, ${what}`, value: ratio(postgres, sqlite), unit: "×" });
  report({ name: `NATS / SQLite, ${what}`, value: ratio(nats, sqlite), unit: "×" });
  const against = [
    { name: `NATS / etcd, ${what}`, value: ratio(nats, etcd), target: { atLeast: 1.2 } },
    { name: `Postgres / etcd, ${what}`, value: ratio(postgres, etcd), target: { atLeast: 1.5 } },
  ];
  for (const each of against) report({ ...each, unit: "×" });
}

/** Two members on one log. */
async function lookAtFollowers(name: string, storeOn: (number: number) => Store): Promise<void> {
  const two = (): [Store, Store] => {
    stores += 1;
    return [storeOn(stores), storeOn(stores)];
  };
  const { commandMs, lagMs, lagP99Ms } = await watchLag(two(), WATCHED);
  report({ name: `${name}, a command at the leader, p50`, value: commandMs, unit: "ms" });
  const lag = `${name}, from its answer to a watcher at another member`;
  report({ name: `${lag}, p50`, value: lagMs, unit: "ms" });
  report({ name: `${lag}, p99`, value: lagP99Ms, unit: "ms" });
  const value = lagMs / commandMs;
  report({ name: `${lag} / command, p50`, value, unit: "×", target: { atMost: 1 } });
  const { most, perRead } = await barriersOf(two(), { readers: READERS, turns: 10 });
  const barriers = `${name}, barriers under way, ${READERS} readers at a follower`;
  report({ name: barriers, value: most, unit: "", target: { atMost: 2 } });
  report({ name: "  barriers a read", value: perRead, unit: "" });
}

async function compareSnapshots(name: string, storeOn: () => Store): Promise<void> {
  const [alone, beside] = await measuredInTurns(3, [
    () => appendRate(storeOn(), { appends: 1_000, batch: 1 }),
    () => besideSnapshot(storeOn(), SNAPSHOT_BYTES),
  ]);
  report({ name: `appends to ${name} alone, p99`, value: alone.p99Ms, unit: "ms" });
  const size = `${SNAPSHOT_BYTES >> 20} MiB`;
  report({ name: `${name} beside a snapshot of ${size}, p99`, value: beside.p99Ms, unit: "ms" });
  const value = beside.p99Ms / alone.p99Ms;
  const target = { atMost: 2 };
  report({ name: `${name} beside a snapshot / alone, p99`, value, unit: "×", target });
}
