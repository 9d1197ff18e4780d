/**
 * The checks of the quick bench. Each gives ratios to a floor that was measured in turns with it,
 * in processor time where the system tells it, because a busy machine does not change that.
 */
import { spawnSync } from "node:child_process";
import { Engine } from "../../src/engine/engine.ts";
import { LIBRARY } from "../../src/core/by.ts";
import { memoryStore } from "../../src/log/memory/store.ts";
import { AgentSearch } from "../../src/search/agent-search.ts";
import { loadModel } from "../../src/search/model.ts";
import {
  HeartbeatRequestSchema,
  RegisterRequestSchema,
  RegisterResponseSchema,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { EXAMPLES } from "../../test/support/search/evaluation-set.ts";
import { CommitRace } from "../engine/commits.ts";
import { call } from "../keeper/call.ts";
import { drive, ourClient, type Call } from "../keeper/clients.ts";
import { startBare, startKeeper, type Program } from "../keeper/programs.ts";
import { inTemporaryFolder, inTurns, measuredInTurns, median, type Result } from "../measure.ts";
import { fill } from "../scale/fill.ts";
import { pagesOf, type Look } from "../scale/looks.ts";
import { Daemon } from "../shared/daemon.ts";
import { startCosts } from "../shared/starts.ts";

export type Check = () => Promise<readonly Result[]>;

/** Durable commands against a bare group commit of the same bytes. */
const engine: Check = () =>
  inTemporaryFolder(async (folder) => {
    const race = new CommitRace(folder, 20_480);
    const both = [() => race.engineRate(), () => race.bareRate()] as const;
    await inTurns(1, ...both);
    const [ours = NaN, bare = NaN] = await inTurns(7, ...both);
    const target = { atLeast: 0.6 };
    return [{ name: "engine / bare group commit", value: ours / bare, unit: "×", target }];
  });

/** What a heartbeat takes our server, against a grpc-js server that does nothing. */
const heartbeat: Check = () =>
  inTemporaryFolder(async (folder) => {
    await using keeper = await startKeeper(folder);
    await using bare = await startBare();
    const register = create(RegisterRequestSchema, { card: { name: "bench" }, ttlSeconds: 3_600 });
    const { agentId } = fromBinary(
      RegisterResponseSchema,
      await call(
        keeper.origin,
        "/agentkeeper.v1.RegistryService/Register",
        toBinary(RegisterRequestSchema, register),
      ),
    );
    const body = toBinary(HeartbeatRequestSchema, create(HeartbeatRequestSchema, { agentId }));
    const path = "/agentkeeper.v1.RegistryService/Heartbeat";
    using toOurs = ourClient(keeper.address);
    using toBare = ourClient(bare.address);
    const costOf = (program: Program, client: typeof toOurs, what: Call) => async () => {
      const beforeUs = program.cpuUs();
      const measured = await drive(client, what, 64);
      return { ...measured, cpuUs: program.cpuUs() - beforeUs };
    };
    const [ours, floor] = await measuredInTurns(3, [
      costOf(keeper, toOurs, { path, body }),
      costOf(bare, toBare, { path: "/bare/Nothing", body }),
    ]);
    const value = (floor.cpuUs ?? NaN) / (ours.cpuUs ?? NaN);
    const target = { atLeast: 0.6 };
    return [{ name: "grpc-js that does nothing / heartbeat, CPU", value, unit: "×", target }];
  });

const SIZES = [1_000, 10_000] as const;
const ROUNDS = 25;
const LOOKS = ["/v1/fleet?limit=50", "/v1/agents?limit=50", "/v1/agents/ID", "/metrics"];
/** An exponent of 0.1, over ten times the size. */
const GROWTH = 10 ** 0.1;

/** A few looks at ten times the size against the same at a tenth. */
const scale: Check = () =>
  inTemporaryFolder((small) => inTemporaryFolder((large) => scaleIn([small, large])));

async function scaleIn(folders: readonly [string, string]): Promise<readonly Result[]> {
  const daemons: { readonly daemon: Daemon; readonly looks: readonly Look[] }[] = [];
  try {
    for (const [i, size] of SIZES.entries()) {
      const folder = folders[i] ?? "";
      const samples = await fill(folder, { agents: size, nouns: false });
      const daemon = await Daemon.start(folder, { flags: ["--no-status-files"] });
      daemons.push({ daemon, looks: pagesOf(daemon.url, samples) });
    }
    return await inSequence(LOOKS, async (name) => {
      const costs = daemons.map((): number[] => []);
      for (let round = 0; round < 2 * ROUNDS; round += 1) {
        for (const [i, { daemon, looks }] of daemons.entries()) {
          const beforeMs = daemon.cpuMs();
          await looks.find((look) => look.name === name)?.ask();
          if (round >= ROUNDS) costs[i]?.push(daemon.cpuMs() - beforeMs);
        }
      }
      const [small = NaN, large = NaN] = costs.map(median);
      const about = { name: `${name}, 10,000 agents / 1,000, CPU`, unit: "times" };
      return { ...about, value: large / small, target: { atMost: GROWTH } };
    });
  } finally {
    for (const { daemon } of daemons) await daemon.close();
  }
}

async function inSequence<In, Out>(all: readonly In[], act: (each: In) => Promise<Out>) {
  const done: Out[] = [];
  for (const each of all) done.push(await act(each));
  return done;
}

const FOUND_AMONG = 10_000;
const FINDS = 40;

/** Finding against one pass over the bytes of as many vectors. */
const find: Check = async () => {
  const store = memoryStore();
  const engineOf = await Engine.open({ log: store.log });
  const search = new AgentSearch({ engine: engineOf });
  const { length: dimensions } = (await loadModel()).embed("a sentence");
  const at = (i: number) => EXAMPLES[i % EXAMPLES.length] ?? EXAMPLES[0];
  const cards = Array.from({ length: FOUND_AMONG }, (_, i) => ({
    name: `agent-${i}`,
    description: `${at(i)?.description}. ${at(i * 7 + 1)?.description}.`,
    version: "1.0.0",
    capabilities: [],
    tools: [],
    metadata: {},
  }));
  await Promise.all(
    cards.map((card) => engineOf.execute({ type: "agent.register", card, ttlMs: 0 }, LIBRARY)),
  );
  const vectors = Int8Array.from({ length: FOUND_AMONG * dimensions }, (_, i) => (i * 31) % 127);
  const query = vectors.slice(0, dimensions);
  const times = { ours: [] as number[], bare: [] as number[] };
  for (let i = 0; i < 2 * FINDS; i += 1) {
    const startMs = performance.now();
    await search.find({ query: at(i)?.query ?? "", limit: 10 });
    const foundMs = performance.now();
    if (barePass(vectors, query) === Infinity) throw new Error("a sum has no end");
    // The first half embeds and compiles.
    if (i < FINDS) continue;
    times.ours.push(foundMs - startMs);
    times.bare.push(performance.now() - foundMs);
  }
  await search.close();
  await engineOf.close();
  await store.close();
  const value = median(times.ours) / median(times.bare);
  const name = "find among 10,000 agents / a bare pass";
  return [{ name, value, unit: "times", target: { atMost: 3 } }];
};

/** The best product of the query with one of the vectors. */
function barePass(vectors: Int8Array, query: Int8Array): number {
  const { length } = query;
  let best = -Infinity;
  for (let from = 0; from < vectors.length; from += length) {
    let sum = 0;
    for (let i = 0; i < length; i += 1) sum += (vectors[from + i] ?? 0) * (query[i] ?? 0);
    if (sum > best) best = sum;
  }
  return best;
}

/** A list of ten agents against node that does nothing. */
const ls: Check = () =>
  inTemporaryFolder(async (folder) => {
    const env = { ROLLCALL_DATA_DIR: folder, HOME: folder };
    const rollcall = ["dist/bin/rollcall.cjs"];
    const daemon = await Daemon.start(folder, { flags: ["--no-status-files"] });
    try {
      for (let i = 0; i < 10; i += 1) {
        const words = ["agents", "register", `agent-${i}`, "--ttl", "1h"];
        spawnSync(process.execPath, [...rollcall, ...words], { env: { ...process.env, ...env } });
      }
      const bare = { args: ["-e", "0"] };
      const list = { args: [...rollcall, "ls"], env };
      const [floor, ours] = startCosts(15, [bare, list]);
      const value = (ours?.cpuMs ?? NaN) / (floor?.cpuMs ?? NaN);
      return [
        { name: "rollcall ls / bare node, CPU", value, unit: "times", target: { atMost: 1.5 } },
      ];
    } finally {
      await daemon.close();
    }
  });

export const CHECKS: readonly Check[] = [engine, heartbeat, scale, find, ls];
