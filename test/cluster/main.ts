/**
 * `npm run faults`: hurts three members on a real store, under load; nothing may be lost, done
 * twice or seen out of order. Full disks come last, on a cluster of their own.
 */
import { parseArgs } from "node:util";
import { FAULTS, hurt, type Fault, type Outcome, type Round } from "./faults.ts";
import { TestCluster } from "./members.ts";
import type { StoreOptions } from "./shared-store.ts";
import { STORES, type StoreKind } from "./stores.ts";

const HELP = `Kills, stops, cuts off and changes members of a cluster and its servers, under load.

  npm run faults -- --store postgres|nats   default postgres; real servers, as npm test installs
  --rounds N      so many faults; default 20     --minutes M   none begins later
  --from R        begins with round R: a long run in pieces has all the faults that it has in one
  --control       on a store that may lose what it acknowledged: well when the check sees it
  --only FAULT    one of:\n${FAULTS.map((fault) => `      ${fault}`).join("\n")}`;

const { values } = parseArgs({
  options: {
    help: { type: "boolean", default: false },
    store: { type: "string", default: "postgres" },
    rounds: { type: "string", default: "20" },
    minutes: { type: "string", default: "600" },
    from: { type: "string", default: "0" },
    only: { type: "string" },
    control: { type: "boolean", default: false },
  },
});
if (values.help) {
  say(HELP);
  process.exit(0);
}
const kind = STORES.find((each) => each === values.store);
if (kind === undefined) refuse(`--store is one of: ${STORES.join(", ")}`);
const only = FAULTS.find((fault) => fault === values.only);
if (values.only !== undefined && only === undefined) {
  refuse(`--only is one of: ${FAULTS.join(", ")}`);
}

const OF_MEMBERS: readonly Fault[] = [
  "stop leader",
  "cut leader from store",
  "step down",
  "cut leader off",
  "cut members",
  "kill follower",
  "cut follower from store",
];
const OF_STORES: Readonly<Record<StoreKind, readonly Fault[]>> = {
  postgres: ["promote", "kill store", "stop store", "cut standby"],
  nats: ["cut store", "kill store", "stop store", "end store", "lose disk"],
};
/** By which a store that may lose something does. */
const LOSING: Readonly<Record<StoreKind, Fault>> = { postgres: "promote", nats: "lose disk" };
/** Of so many rounds the last one fills the disk up. */
const FULL_EVERY = 20;

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function refuse(why: string): never {
  say(why);
  process.exit(2);
}

const rounds = Number(values.rounds);
const endsMs = Date.now() + Number(values.minutes) * 60_000;
if (values.control) process.exitCode = (await isSeen(kind)) ? 0 : 1;
else {
  const others = [...OF_MEMBERS, ...OF_STORES[kind]];
  const from = Number(values.from);
  const faults = Array.from({ length: rounds }, (_, i) => only ?? nth(others, from + i));
  const wired = faults.filter((fault) => fault !== "fill disk");
  const filled = faults.filter((fault) => fault === "fill disk");
  const outcomes = [
    ...(wired.length > 0 ? [await run(kind, wired, { isWired: true })] : []),
    ...(filled.length > 0 ? [await run(kind, filled, { isSmall: true })] : []),
  ];
  process.exitCode = sumUp(outcomes) ? 0 : 1;
}

/** Every third is the one that users see most. */
function nth(others: readonly Fault[], round: number): Fault {
  if (round % FULL_EVERY === FULL_EVERY - 1) return "fill disk";
  const index = round - Math.floor(round / FULL_EVERY);
  if (index % 3 === 0) return "kill leader";
  return others[(index - Math.ceil(index / 3)) % others.length] ?? "kill leader";
}

async function run(
  store: StoreKind,
  faults: readonly Fault[],
  options: StoreOptions,
): Promise<Outcome> {
  const cluster = await TestCluster.start(store, options);
  try {
    const outcome = await hurt(cluster, inTime(faults), say);
    if (outcome.problems.length > 0 && options.isLossy !== true) {
      for (const { node, said } of cluster.members) say(`--- ${node}\n${said.slice(-3000)}`);
    }
    return outcome;
  } finally {
    await cluster.close();
  }
}

function* inTime(faults: readonly Fault[]): Generator<Fault> {
  for (const fault of faults) {
    if (Date.now() > endsMs) return;
    yield fault;
  }
}

/** Whether all is well. */
function sumUp(outcomes: readonly Outcome[]): boolean {
  const all = outcomes.flatMap((outcome) => outcome.rounds);
  for (const fault of FAULTS) {
    const own = all.filter((round) => round.fault === fault);
    if (own.length > 0) say(`${fault}: ${summary(own)}`);
    const quick = own.filter(({ isQuick }) => isQuick);
    if (quick.length > 0 && quick.length < own.length) {
      say(`  of them, where the store was quick before: ${summary(quick)}`);
    }
  }
  const total = (of: (outcome: Outcome) => number) =>
    outcomes.reduce((sum, outcome) => sum + of(outcome), 0);
  const acknowledged = total((outcome) => outcome.acknowledged);
  say(`${acknowledged} commands acknowledged, ${total(({ jobs }) => jobs)} jobs seen to end`);
  const problems = outcomes.flatMap((outcome) => outcome.problems);
  for (const problem of problems.slice(0, 20)) say(`WRONG: ${problem}`);
  say(problems.length === 0 ? `all well in ${all.length} rounds` : `${problems.length} wrong`);
  return problems.length === 0;
}

function summary(of: readonly Round[]): string {
  const times = of.map(({ silentMs }) => silentMs).toSorted((a, b) => a - b);
  const at = (share: number) => times[Math.floor((times.length - 1) * share)] ?? 0;
  const silence = `${at(0)} / ${at(0.5)} / ${at(1)} ms (least, median, most)`;
  return `${times.length} rounds, silence ${silence}`;
}

/** Whether the check sees that a store lost what it acknowledged. */
async function isSeen(store: StoreKind): Promise<boolean> {
  const faults = Array.from({ length: rounds }, () => LOSING[store]);
  const { problems } = await run(store, faults, { isWired: true, isLossy: true });
  for (const problem of problems.slice(0, 5)) say(`seen: ${problem}`);
  say(problems.length > 0 ? "the check sees what was lost" : "WRONG: the check sees nothing");
  return problems.length > 0;
}
