/**
 * What Find costs: embedding on one core, finding among 10,000 and 100,000 agents (`--million`: and
 * among a million, which takes 2 GB), and what everybody else waits meanwhile. Every agent says
 * something else, in words of the evaluation set. Ranking is compared with a bare pass over as many
 * bytes as the vectors have.
 */
import { readFileSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AgentCard } from "../src/core/agents.ts";
import { Engine } from "../src/engine/engine.ts";
import { memoryStore } from "../src/log/memory/store.ts";
import { AgentSearch } from "../src/search/agent-search.ts";
import type { Collection } from "../src/search/collection.ts";
import { documentOf } from "../src/search/document.ts";
import { SearchThread } from "../src/search/thread.ts";
import { EXAMPLES } from "../test/support/search/evaluation-set.ts";
import { loadModel } from "../src/search/model.ts";
import { conclude, inTurns, median, memoryBytes, rate, report, roundsOf } from "./measure.ts";
import { LIBRARY } from "../src/core/by.ts";

const AGENTS = 10_000;
const SIZES = [10_000, 100_000, ...(process.argv.includes("--million") ? [1_000_000] : [])];
const DIMENSIONS = 256;
const FINDS = 100;
const EMBEDS = 20_000;
const MIB = 1024 * 1024;

setFlagsFromString("--expose-gc");
globalThis.gc = runInNewContext("gc") as typeof globalThis.gc;

const sentences = EXAMPLES.flatMap(({ query, paraphrases }) => [query, ...paraphrases]);
const at = (i: number) => EXAMPLES[i % EXAMPLES.length]?.description ?? "";

function card(i: number): AgentCard {
  const other = Math.floor(i / EXAMPLES.length) * 7 + i + 1;
  return {
    name: `agent-${i}`,
    description: `${at(i)}. ${at(other)}.`,
    version: "1.0.0",
    capabilities: [],
    tools: [...(EXAMPLES[i % EXAMPLES.length]?.tools ?? [])],
    metadata: {},
  };
}

async function measureModel(): Promise<void> {
  const before = memoryBytes();
  const startMs = performance.now();
  const model = await loadModel();
  report({ name: "load the model", value: performance.now() - startMs, unit: "ms" });
  const weight = (memoryBytes() - before) / MIB;
  report({ name: "memory of the model", value: weight, unit: "MiB", target: { atMost: 10 } });
  const [perSecond = 0] = await inTurns(5, () =>
    rate(EMBEDS, () => {
      for (let i = 0; i < EMBEDS; i += 1) model.embed(sentences[i % sentences.length] ?? "");
    }),
  );
  const name = "embed a sentence, one core";
  report({ name, value: perSecond, unit: "/s", target: { atLeast: 40_000 } });
}

async function timed(work: (i: number) => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < roundsOf(FINDS); i += 1) {
    const startMs = performance.now();
    await work(i);
    times.push(performance.now() - startMs);
  }
  return median(times);
}

/** Processor time of this thread where the system tells it: other programs do not count. */
function ownMs(): number {
  if (process.platform !== "linux") return performance.now();
  return Number(readFileSync("/proc/self/schedstat", "utf8").split(" ")[0]) / 1e6;
}

/** The longest that this thread worked in one turn while the work went on, elsewhere or here. */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, ownMs(), false];
  const look = () => {
    const now = ownMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  look();
  await work();
  isOver = true;
  return longest;
}

async function fill(documents: Collection, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i += 1) {
    documents.add(documentOf(`agent-${i}-of-the-bench`, card(i), true));
    if (i % 32 !== 0) continue;
    await new Promise(setImmediate);
    await documents.room();
  }
  const ask = () => documents.rank({ query: "all of them", tools: [], limit: 1 });
  do await ask();
  while (documents.unembedded > 0);
}

/** Over memory, as fast as JavaScript reads it. */
function pass(numbers: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < numbers.length; i += 1) sum += numbers[i] ?? 0;
  return sum;
}

async function measureRanks(): Promise<void> {
  const thread = new SearchThread();
  const documents = thread.collection("bench", () => undefined);
  const rank = (i: number) => {
    const query = sentences[i % sentences.length] ?? "";
    return documents.rank({ query, tools: [], limit: 10 });
  };
  let filled = 0;
  for (const size of SIZES) {
    const amount = size.toLocaleString("en");
    const rss = process.memoryUsage().rss;
    const turn = await longestTurn(() => fill(documents, filled, size));
    const name = `  longest turn while ${amount} agents register`;
    report({ name, value: turn, unit: "ms", target: { atMost: 20 } });
    const each = (process.memoryUsage().rss - rss) / (size - filled);
    report({ name: "  memory of an agent's document, both threads", value: each, unit: "B" });
    filled = size;
    const numbers = new Float64Array((size * DIMENSIONS) / 8).fill(1);
    const bare = await timed(() => pass(numbers));
    const before = process.cpuUsage();
    const ranking = await timed(rank);
    const { user, system } = process.cpuUsage(before);
    const bound = size <= 100_000 ? 10 : 60;
    report({
      name: `find among ${amount} agents, there and back`,
      value: ranking,
      unit: "ms",
      target: { atMost: bound },
    });
    const busy = (user + system) / 1000 / roundsOf(FINDS);
    report({ name: "  processor time, all threads", value: busy, unit: "ms" });
    report({ name: "  one bare pass over as many bytes", value: bare, unit: "ms" });
    // There and back costs a fifth of a millisecond; below 100,000 it is all there is.
    const target = size < 100_000 ? {} : { target: { atMost: 3 } };
    report({ name: "  a find, in bare passes", value: ranking / bare, unit: "×", ...target });
    const wait = await longestTurn(() => timed(rank));
    report({ name: "  others wait at most", value: wait, unit: "ms", target: { atMost: 20 } });
  }
  await documents.close();
}

async function measureFind(): Promise<void> {
  const store = memoryStore();
  const engine = await Engine.open({ log: store.log });
  const search = new AgentSearch({ engine });
  await search.find({ query: "warm" });
  const perSecond = await rate(AGENTS, async () => {
    const cards = Array.from({ length: AGENTS }, (_, i) => card(i));
    await Promise.all(
      cards.map((each) =>
        engine.execute({ type: "agent.register", card: each, ttlMs: 3_600_000 }, LIBRARY),
      ),
    );
    await search.find({ query: "all of them" });
    if (search.stats.unembedded > 0) throw new Error("not all were embedded in time");
  });
  report({ name: "register and index", value: perSecond, unit: "agents/s" });
  const find = (tools: readonly string[]) => (i: number) =>
    search.find({ query: sentences[i % sentences.length] ?? "", tools, limit: 10 });
  const all = await timed(find([]));
  report({ name: "find among 10,000 agents", value: all, unit: "ms", target: { atMost: 15 } });
  const few = await timed(find(["browser"]));
  report({ name: "find among those with a tool", value: few, unit: "ms", target: { atMost: 15 } });
  const listing = await timed(() => search.find());
  const name = "list the newest of 10,000 agents";
  report({ name, value: listing, unit: "ms", target: { atMost: 15 } });
  await search.close();
  await engine.close();
  await store.close();
}

await measureModel();
await measureRanks();
await measureFind();
conclude();
