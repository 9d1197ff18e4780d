/**
 * What Find costs: embedding on one core, finding among ten thousand agents, and the memory that
 * both take. Every agent says something else, in words of the evaluation set.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { AgentCard } from "../src/core/agents.ts";
import { Engine } from "../src/engine/engine.ts";
import { memoryStore } from "../src/log/memory/store.ts";
import { AgentSearch } from "../src/search/agent-search.ts";
import { EXAMPLES } from "../test/support/search/evaluation-set.ts";
import { loadModel } from "../src/search/model.ts";
import { conclude, inTurns, median, memoryBytes, rate, report } from "./measure.ts";
import { LIBRARY } from "../src/core/by.ts";

const AGENTS = 10_000;
const FINDS = 300;
const EMBEDS = 20_000;
const MIB = 1024 * 1024;

setFlagsFromString("--expose-gc");
globalThis.gc = runInNewContext("gc") as typeof globalThis.gc;

const sentences = EXAMPLES.flatMap(({ query, paraphrase }) => [query, paraphrase]);
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

async function timeFinds(search: AgentSearch, tools: readonly string[]): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < FINDS; i += 1) {
    const startMs = performance.now();
    await search.find({ query: sentences[i % sentences.length] ?? "", tools, limit: 10 });
    times.push(performance.now() - startMs);
  }
  return median(times);
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
  const all = await timeFinds(search, []);
  report({ name: "find among 10,000 agents", value: all, unit: "ms", target: { atMost: 15 } });
  const few = await timeFinds(search, ["browser"]);
  report({ name: "find among those with a tool", value: few, unit: "ms", target: { atMost: 15 } });
  const times: number[] = [];
  for (let i = 0; i < FINDS; i += 1) times.push(1000 / (await rate(1, () => list(search))));
  const name = "list the newest of 10,000 agents";
  report({ name, value: median(times), unit: "ms", target: { atMost: 15 } });
  await search.close();
  await engine.close();
  await store.close();
}

async function list(search: AgentSearch): Promise<void> {
  await search.find();
}

await measureModel();
await measureFind();
conclude();
