/**
 * The keeper wire under load, from clients that are not Node's: against a grpc-js server that does
 * nothing (what the transport alone costs), and against etcd (what people would use instead). All
 * in turns, in one run, all that is written synced to the same disk; then the most telling of it
 * over TLS, at both ends.
 *
 * etcd has no single call that takes a lease on a key: it is a grant and a put, so a taken lease
 * costs it the time of both. Events are delivered to 1,000 watchers, beside etcd's and beside those
 * of Redis, which keeps nothing and promises nothing.
 *
 * `--quick` is without the others; `--only plain`, `fanout` or `tls` is one part alone.
 */
import {
  create,
  fromBinary,
  toBinary,
  type MessageInitShape,
  type DescMessage,
} from "@bufbuild/protobuf";
import { provide } from "../scripts/prerequisites.mjs";
import {
  AcquireLeaseRequestSchema,
  CheckPolicyRequestSchema,
  HeartbeatRequestSchema,
  PolicyEffect,
  RegisterRequestSchema,
  RegisterResponseSchema,
  SetPolicyRequestSchema,
  WatchRequestSchema,
} from "../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { call } from "./keeper/call.ts";
import { drive, grpcJsClient, ourClient } from "./keeper/clients.ts";
import { ETCD } from "./keeper/etcd.ts";
import { buildFanout } from "./keeper/fanout.ts";
import { h2load } from "./keeper/h2load.ts";
import { startBare, startEtcd, startKeeper, startRedis, type Program } from "./keeper/programs.ts";
import { tlsFiles } from "./keeper/tls-files.ts";
import { conclude, isQuick, measuredInTurns, part, report, type Measured } from "./measure.ts";

const ROUNDS = 5;
/** In one load of many callers: with fewer, the look-up of the user of each connection counts. */
const CALLS = 64_000;
const CALLS_ALONE = 1_000;
/** With those that warm up, two minutes on a quiet machine. */
const TLS_ROUNDS = 3;
const FANOUT_ROUNDS = 3;
const WATCHERS = 1_000;
/** About as long as the event of a lease. */
const PAYLOAD_BYTES = 170;

interface Method {
  readonly path: string;
  readonly body: Uint8Array;
}

function method<Schema extends DescMessage>(
  path: string,
  schema: Schema,
  init: MessageInitShape<Schema>,
): Method {
  return { path: `/agentkeeper.v1.${path}`, body: toBinary(schema, create(schema, init)) };
}

/** What is called, once an agent and a thousand policies are there. */
async function setUpKeeper(origin: string) {
  const ask = ({ path, body }: Method) => call(origin, path, body);
  const card = { name: "bench", tools: ["git"] };
  const register = method("RegistryService/Register", RegisterRequestSchema, {
    card,
    ttlSeconds: 86_400,
  });
  const { agentId } = fromBinary(RegisterResponseSchema, await ask(register));
  const policies = Array.from({ length: 1_000 }, (_, i) => {
    const policy = {
      id: `p${i}`,
      subject: `team-${i}:*`,
      action: "tool:*",
      resource: "*",
      effect: i % 2 === 0 ? PolicyEffect.ALLOW : PolicyEffect.DENY,
    };
    return method("EntitlementsService/SetPolicy", SetPolicyRequestSchema, { policy });
  });
  // All at once: the user of every new connection is looked up, ten times a second at most.
  await Promise.all(policies.map(ask));
  const question = { subject: "team-500:alice", action: "tool:git", resource: "repo" };
  return {
    heartbeat: method("RegistryService/Heartbeat", HeartbeatRequestSchema, { agentId }),
    check: method("EntitlementsService/CheckPolicy", CheckPolicyRequestSchema, question),
    acquire: method("LeaseService/AcquireLease", AcquireLeaseRequestSchema, {
      taskId: "job-1",
      agentId,
      ttlSeconds: 3_600,
    }),
    watch: method("RegistryService/Watch", WatchRequestSchema, { topics: ["lease."] }),
  };
}

const missing = provide(isQuick ? ["h2load"] : ["h2load", "etcd", "redis"]);
if (missing.length > 0) {
  throw new Error(`this needs ${missing.map(({ name, need }) => `${name}, ${need}`).join("; ")}`);
}

await part("plain", async (folder) => {
  await using keeper = await startKeeper(folder);
  await using bare = await startBare();
  await using etcd = isQuick ? undefined : await startEtcd(folder);
  const ours = await setUpKeeper(keeper.origin);
  if (etcd) await call(etcd.origin, ETCD.grantOnce.path, ETCD.grantOnce.body);

  const load = ({ origin }: Program, what: Method, callers: number) => {
    const requests = callers === 1 ? CALLS_ALONE : CALLS;
    return () => h2load(folder, { origin, ...what, callers, requests });
  };
  const onEtcd = (callers: number, ...methods: readonly Method[]) =>
    methods.flatMap((what) => (etcd ? [load(etcd, what, callers)] : []));
  const nothing: Method = { path: "/bare/Nothing", body: ours.heartbeat.body };

  const [floor, heartbeat, check, acquire, keepAlive] = await measuredInTurns(ROUNDS, [
    load(bare, nothing, 256),
    load(keeper, ours.heartbeat, 256),
    load(keeper, ours.check, 256),
    load(keeper, ours.acquire, 256),
    ...onEtcd(256, ETCD.keepAlive),
  ]);
  report({ name: "grpc-js that does nothing", value: floor.perSecond, unit: "/s" });
  report({ name: "Heartbeat, 256 callers", value: heartbeat.perSecond, unit: "/s" });
  report({ name: "CheckPolicy, 256 callers", value: check.perSecond, unit: "/s" });
  compare("Heartbeat / grpc-js", [heartbeat.perSecond, floor.perSecond], 0.6);
  compare("CheckPolicy, 1,000 policies / grpc-js", [check.perSecond, floor.perSecond], 0.6);
  compare("AcquireLease, durable / grpc-js", [acquire.perSecond, floor.perSecond], 0.4);
  if (keepAlive) {
    report({ name: "etcd keepalive, 256 callers", value: keepAlive.perSecond, unit: "/s" });
    compare("Heartbeat / etcd keepalive", [heartbeat.perSecond, keepAlive.perSecond], 1);
  }

  using mineClient = ourClient(keeper.address);
  using theirClient = grpcJsClient(keeper.address);
  const [byOurs, byGrpcJs] = await measuredInTurns(ROUNDS, [
    () => drive(mineClient, ours.heartbeat, 64),
    () => drive(theirClient, ours.heartbeat, 64),
  ]);
  report({
    name: "grpc-js client, 64 Heartbeats in flight",
    value: byGrpcJs.perSecond,
    unit: "/s",
  });
  compare("our client / grpc-js client", [byOurs.perSecond, byGrpcJs.perSecond], 1);

  for (const callers of [64, 256]) {
    const [mine, grant, put] = await measuredInTurns(ROUNDS, [
      load(keeper, ours.acquire, callers),
      ...onEtcd(callers, ETCD.grant, ETCD.put),
    ]);
    const who = `${callers} callers`;
    report({ name: `AcquireLease, ${who}`, value: mine.perSecond, unit: "/s" });
    const p99 = { name: `  p99 of AcquireLease, ${who}`, value: mine.p99Ms, unit: "ms" };
    if (!grant || !put) {
      report(p99);
      continue;
    }
    const theirs = 1 / (1 / grant.perSecond + 1 / put.perSecond);
    report({ name: `etcd grant + put, ${who}`, value: theirs, unit: "/s" });
    compare(`AcquireLease / etcd grant + put, ${who}`, [mine.perSecond, theirs], 2);
    // One after the other they take at least as long as the slower of the two.
    const theirP99Ms = Math.max(grant.p99Ms, put.p99Ms);
    report({ name: `  p99 of the slower etcd call, ${who}`, value: theirP99Ms, unit: "ms" });
    report({ ...p99, target: { atMost: theirP99Ms } });
  }

  // h2load looks at HTTP only: that all of it is still answered, not refused, is seen here.
  for (const each of Object.values(ours)) {
    if (each !== ours.watch) await call(keeper.origin, each.path, each.body);
  }
  if (etcd) {
    for (const each of [ETCD.put, ETCD.keepAlive]) await call(etcd.origin, each.path, each.body);
  }

  // One at a time: how long a caller waits when nobody else calls.
  const [alone, grantAlone] = await measuredInTurns(ROUNDS, [
    load(keeper, ours.acquire, 1),
    ...onEtcd(1, ETCD.grant),
  ]);
  report({ name: "AcquireLease, one caller, p50", value: alone.p50Ms ?? NaN, unit: "ms" });
  if (grantAlone) {
    const theirMs = grantAlone.p50Ms ?? NaN;
    report({ name: "etcd grant, one caller, p50", value: theirMs, unit: "ms" });
    const value = (alone.p50Ms ?? NaN) / theirMs;
    const target = { atMost: 1.2 };
    report({ name: "AcquireLease / etcd grant, one caller, p50", value, unit: "times", target });
  }
});

await part("fanout", async (folder) => {
  await using keeper = await startKeeper(folder);
  await using etcd = isQuick ? undefined : await startEtcd(folder);
  await using redis = isQuick ? undefined : await startRedis(folder);
  const ours = await setUpKeeper(keeper.origin);
  if (etcd) await call(etcd.origin, ETCD.grantOnce.path, ETCD.grantOnce.body);
  const fanout = buildFanout(folder);
  for (const connections of [10, 1_000]) {
    const spread = (kind: string, program: Program, words: readonly string[]) => () =>
      fanout(kind, program, { connections, watchers: WATCHERS, words });
    const [mine, theirs, pubSub] = await measuredInTurns(FANOUT_ROUNDS, [
      spread("keeper", keeper, [ours.watch, ours.acquire].flatMap(wordsOf)),
      ...(etcd ? [spread("etcd", etcd, [ETCD.watch, ETCD.put].flatMap(wordsOf))] : []),
      ...(redis ? [spread("redis", redis, ["job-1", "f".repeat(PAYLOAD_BYTES)])] : []),
    ]);
    const to = `deliveries to 1,000 watchers on ${connections.toLocaleString("en")} connections`;
    report({ name: to, value: mine.perSecond, unit: "/s" });
    const cpuUs = mine.cpuUs ?? NaN;
    report({ name: "  CPU of one", value: cpuUs, unit: "µs" });
    if (!theirs || !pubSub) continue;
    report({ name: `etcd, ${to}`, value: theirs.perSecond, unit: "/s" });
    report({ name: "  etcd, CPU of one", value: theirs.cpuUs ?? NaN, unit: "µs" });
    report({ name: `redis pub/sub, ${to}`, value: pubSub.perSecond, unit: "/s" });
    report({ name: "  redis, CPU of one", value: pubSub.cpuUs ?? NaN, unit: "µs" });
    compare(`${to} / etcd`, [mine.perSecond, theirs.perSecond], 2);
    compare(`${to} / redis`, [mine.perSecond, pubSub.perSecond], 0.5);
    const value = cpuUs / (theirs.cpuUs ?? NaN);
    report({ name: "  CPU of one / etcd", value, unit: "times", target: { atMost: 1 / 3 } });
  }
});

await part("tls", async (folder) => {
  const tls = tlsFiles(folder);
  await using keeper = await startKeeper(folder, tls);
  await using etcd = isQuick ? undefined : await startEtcd(folder, tls);
  // Without TLS, which it takes on this machine: a thousand handshakes are not what is measured.
  const ours = await setUpKeeper(`http://${keeper.address}`);
  if (etcd) await call(etcd.origin, ETCD.grantOnce.path, ETCD.grantOnce.body);
  const load = (program: Program, what: Method) => async (): Promise<Measured> => {
    const { origin } = program;
    const beforeUs = program.cpuUs();
    const requests = 256 * 50;
    const measured = await h2load(folder, { origin, ...what, callers: 256, requests });
    return { ...measured, cpuUs: (program.cpuUs() - beforeUs) / requests };
  };
  const onEtcd = [ETCD.keepAlive, ETCD.grant, ETCD.put];
  const [heartbeat, acquire, keepAlive, grant, put] = await measuredInTurns(TLS_ROUNDS, [
    load(keeper, ours.heartbeat),
    load(keeper, ours.acquire),
    ...onEtcd.flatMap((what) => (etcd ? [load(etcd, what)] : [])),
  ]);
  report({ name: "Heartbeat over TLS, 256 callers", value: heartbeat.perSecond, unit: "/s" });
  report({ name: "AcquireLease over TLS, 256 callers", value: acquire.perSecond, unit: "/s" });
  // All of it was answered, not refused.
  for (const each of [ours.heartbeat, ours.acquire]) {
    await call(keeper.origin, each.path, each.body);
  }
  if (!keepAlive || !grant || !put) return;
  const theirs = 1 / (1 / grant.perSecond + 1 / put.perSecond);
  report({ name: "etcd keepalive over TLS, 256 callers", value: keepAlive.perSecond, unit: "/s" });
  report({ name: "etcd grant + put over TLS, 256 callers", value: theirs, unit: "/s" });
  compare("over TLS, Heartbeat / etcd keepalive", [heartbeat.perSecond, keepAlive.perSecond], 1);
  compare("over TLS, AcquireLease / etcd grant + put", [acquire.perSecond, theirs], 1);
  // How fast it is depends on all else that runs on the machine; what it takes does not.
  const cpu = (name: string, mine: Measured, ...others: readonly Measured[]) => {
    const their = others.reduce((sum, { cpuUs = NaN }) => sum + cpuUs, 0);
    report({ name: `  CPU of ${name} over TLS`, value: mine.cpuUs ?? NaN, unit: "µs" });
    report({ name: "    of etcd for the same", value: their, unit: "µs" });
  };
  cpu("a Heartbeat", heartbeat, keepAlive);
  cpu("an AcquireLease", acquire, grant, put);
});
conclude();

/** A method as the program that spreads takes it. */
function wordsOf({ path, body }: Method): readonly string[] {
  return [path, Buffer.from(body).toString("hex")];
}

function compare(name: string, [ours, theirs]: readonly [number, number], atLeast: number): void {
  report({ name, value: ours / theirs, unit: "×", target: { atLeast } });
}
