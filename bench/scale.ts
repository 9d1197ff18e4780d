/**
 * Does a look cost what it shows, however much there is? The built daemon with 1,000, 10,000 and
 * 100,000 agents, and as many leases, tasks and other nouns, up to their limits; every route,
 * command and stream is asked by one caller: first alone, for what it costs the thread that decides
 * (processor time, which a busy machine does not change), then while a second caller asks
 * `/healthz` and notes how long it waits. Before that, agents alone: what each takes of memory.
 *
 * `--million` adds a million (which needs 16 GB of memory), `--sizes 1000,5000` measures others;
 * `--quick` leaves out the largest and half of the rounds; `--write` puts the tables into
 * docs/performance.md.
 */
import { parseArgs } from "node:util";
import { conclude, isQuick, report } from "./measure.ts";
import { exponentOf } from "./scale/curve.ts";
import { measure, measureAgents, type Measured } from "./scale/measuring.ts";
import { writeScale } from "./scale/tables.ts";

const { values: flags } = parseArgs({
  options: {
    quick: { type: "boolean" },
    write: { type: "boolean", default: false },
    million: { type: "boolean", default: false },
    sizes: { type: "string", default: isQuick ? "1000,10000" : "1000,10000,100000" },
  },
});
const SIZES = [...flags.sizes.split(",").map(Number), ...(flags.million ? [1_000_000] : [])];
const [SMALL, LARGE] = [1_000, 100_000];
const MIB = 1024 * 1024;
const named = (size: number) => size.toLocaleString("en");

/** The promises about memory and the start are about a hundred thousand agents. */
async function reportAgents(): Promise<void> {
  const small = await measureAgents(SMALL);
  const large = await measureAgents(LARGE);
  const about = `with ${named(LARGE)} agents alone`;
  const unit = "MiB";
  report({ name: `ready ${about}`, value: large.readyMs, unit: "ms", target: { atMost: 2_000 } });
  report({ name: `memory with ${named(SMALL)} agents alone`, value: small.rssMib, unit });
  const atMost = 450e6 / MIB;
  report({ name: `memory ${about}`, value: large.rssMib, unit, target: { atMost } });
  const value = ((large.rssMib - small.rssMib) * MIB) / (LARGE - SMALL) / 1000;
  report({ name: "memory of one agent more", value, unit: "KB", target: { atMost: 3 } });
}

function reportSize({ size, ...measured }: Measured): void {
  const { readyMs, rssMib, restMs, loopDelayMs, gcMs, gcCount, measures } = measured;
  const about = `with ${named(size)} of each`;
  report({ name: `ready ${about}`, value: readyMs, unit: "ms" });
  report({ name: `memory ${about}`, value: rssMib, unit: "MiB" });
  report({
    name: `loop delay ${about}, p99.9, the longest of all looks`,
    value: loopDelayMs,
    unit: "ms",
  });
  report({ name: `garbage collection ${about}, all looks`, value: gcMs, unit: "ms" });
  report({ name: "  one collection, on average", value: gcMs / gcCount, unit: "ms" });
  report({ name: `longest wait at rest ${about}`, value: restMs, unit: "ms" });
  const most = (of: "waitMs" | "longestMs") => measures.toSorted((a, b) => b[of] - a[of])[0];
  const [late, longest] = [most("waitMs"), most("longestMs")];
  report({
    name: `wait of others ${about}, p99.9, during ${late?.name ?? ""}`,
    value: late?.waitMs ?? NaN,
    unit: "ms",
    target: { atMost: size > LARGE ? 100 : 50 },
  });
  report({
    name: `longest wait of others ${about} / at rest, during ${longest?.name ?? ""}`,
    value: (longest?.longestMs ?? NaN) / restMs,
    unit: "times",
    target: { atMost: 3 },
  });
  const { cpuMs = NaN } = measures.find(({ name }) => name === "/metrics") ?? {};
  report({ name: `a scrape ${about}`, value: cpuMs, unit: "ms of CPU", target: { atMost: 2 } });
}

if (SIZES.includes(LARGE)) await reportAgents();
const all: Measured[] = [];
for (const size of SIZES) {
  const measured = await measure(size);
  all.push(measured);
  reportSize(measured);
}
for (const { name, growth, cpuMs } of all.at(-1)?.measures ?? []) {
  const points = all.flatMap(({ size, measures }) => {
    const found = measures.find((each) => each.name === name);
    return found ? [{ size, value: found.cpuMs }] : [];
  });
  report({ name, value: cpuMs, unit: "ms of CPU" });
  report({
    name: `  ${name}: growth`,
    value: exponentOf(points),
    unit: "",
    ...(growth === "none" && { target: { atMost: 0.1 } }),
  });
}
if (flags.write) writeScale(all);
conclude();
