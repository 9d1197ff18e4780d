/** `npm run faults -- --store postgres|nats --rounds N`: hurts a cluster; all must hold. */
import { parseArgs } from "node:util";
import { FAULTS, hurt, type Fault, type Round } from "./faults.ts";
import { TestCluster } from "./members.ts";
import { STORES } from "./stores.ts";

const { values } = parseArgs({
  options: {
    store: { type: "string", default: "postgres" },
    rounds: { type: "string", default: "20" },
    only: { type: "string" },
  },
});
const store = STORES.find((kind) => kind === values.store);
if (store === undefined) {
  say(`--store is one of: ${STORES.join(", ")}`);
  process.exit(2);
}
const only = FAULTS.find((fault) => fault === values.only);
if (values.only !== undefined && only === undefined) {
  say(`--only is one of: ${FAULTS.join(", ")}`);
  process.exit(2);
}
const faults = Array.from(
  { length: Number(values.rounds) },
  (_, i): Fault => only ?? FAULTS[i % FAULTS.length] ?? "kill leader",
);

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

const cluster = await TestCluster.start(store);
try {
  const outcome = await hurt(cluster, faults, say);
  for (const fault of FAULTS) say(summary(fault, outcome.rounds));
  say(`${outcome.acknowledged} commands acknowledged, ${outcome.jobs} jobs seen to end`);
  for (const problem of outcome.problems.slice(0, 20)) say(`WRONG: ${problem}`);
  say(outcome.problems.length === 0 ? "all well" : `${outcome.problems.length} wrong`);
  if (outcome.problems.length > 0) {
    for (const { node, said } of cluster.members) say(`--- ${node}\n${said.slice(-3000)}`);
  }
  process.exitCode = outcome.problems.length === 0 ? 0 : 1;
} finally {
  await cluster.close();
}

function summary(fault: Fault, rounds: readonly Round[]): string {
  const times = rounds
    .filter((round) => round.fault === fault)
    .map(({ silentMs }) => silentMs)
    .toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
  const silence = `${at(0)} / ${at(0.5)} / ${at(1)} ms (least, median, most)`;
  return `${fault}: ${times.length} rounds, silence ${silence}`;
}
