/**
 * Rounds of faults against a cluster under load: a member is killed, stopped, cut off from the
 * store or from the others, or asked to step down; the store is hurt in its own ways. Each round
 * says how long no command was acknowledged, and whether the store was quick before it.
 */
// tidy-allow sleep: faults last for a while
import { setTimeout as pause } from "node:timers/promises";
import { appendsOf, post } from "./http.ts";
import { Load } from "./load.ts";
import type { MemberProcess, TestCluster } from "./members.ts";
import { STORE_FAULTS, type Mend, type StoreFault } from "./shared-store.ts";

const MEMBER_FAULTS = [
  "kill leader",
  "stop leader",
  "step down",
  "kill follower",
  "cut leader from store",
  "cut leader off",
  "cut members",
  "cut follower from store",
] as const;

type MemberFault = (typeof MEMBER_FAULTS)[number];

export const FAULTS = [...MEMBER_FAULTS, ...STORE_FAULTS];

export type Fault = MemberFault | StoreFault;

/** How long a stopped leader sleeps: longer than it takes the others to elect another. */
const ASLEEP_MS = 8_000;
/** And how long one is cut off. */
const CUT_MS = 5_000;
/** Before and after each fault there is ordinary life. */
const CALM_MS = 1_000;
const BACK_MS = 30_000;
/** The store is quick where of the appends before the fault so many took 100 ms at the most. */
const QUICK = 0.99;
/** Members write down what they know of the log about every second. */
const WRITTEN_MS = 20_000;

export interface Round {
  readonly fault: Fault;
  /** The longest time without an acknowledged command, from the fault until all is well again. */
  readonly silentMs: number;
  readonly isQuick: boolean;
}

export interface Outcome {
  readonly rounds: readonly Round[];
  readonly acknowledged: number;
  readonly jobs: number;
  readonly problems: readonly string[];
}

export async function hurt(
  cluster: TestCluster,
  faults: Iterable<Fault>,
  tell: (line: string) => void = () => undefined,
): Promise<Outcome> {
  const load = new Load(cluster.members);
  const rounds: Round[] = [];
  const troubles: string[] = [];
  let last: Fault | undefined;
  try {
    for (const fault of faults) {
      last = fault;
      const isQuick = await isQuickFor(await cluster.leader(), CALM_MS);
      load.turnOver();
      const atMs = Date.now();
      const mend = await inflict(cluster, fault);
      await pause(CALM_MS);
      await mend();
      await cluster.settled();
      const silentMs = load.longestSilenceMs(atMs);
      if (silentMs > BACK_MS) troubles.push(`no command was acknowledged for 30 s: ${fault}`);
      rounds.push({ fault, silentMs, isQuick });
      const pace = isQuick ? "" : " (the store was slow before)";
      tell(`${fault}: no command was acknowledged for ${silentMs} ms${pace}`);
    }
  } catch (error) {
    troubles.push(`round ${rounds.length + 1}, ${last}: ${String(error)}`);
  }
  await pause(CALM_MS);
  const problems = [
    ...troubles,
    ...(await load.end(await cluster.leader())),
    ...(await chainProblems(cluster)),
  ];
  return { rounds, acknowledged: load.acknowledged, jobs: load.jobs, problems };
}

async function isQuickFor(leader: MemberProcess, ms: number): Promise<boolean> {
  const before = await appendsOf(leader);
  await pause(ms);
  const after = await appendsOf(leader);
  return after.quick - before.quick >= QUICK * (after.all - before.all);
}

/** Resolves with how to mend it. */
async function inflict(cluster: TestCluster, fault: Fault): Promise<Mend> {
  const leader = await cluster.leader();
  const { store } = cluster;
  switch (fault) {
    case "kill leader":
      return killed(leader);
    case "kill follower":
      return killed(await cluster.follower());
    case "stop leader":
      leader.signal("SIGSTOP");
      return lasting(ASLEEP_MS, async () => leader.signal("SIGCONT"));
    case "step down":
      await post(leader, "/v1/cluster/step-down", {});
      return async () => undefined;
    case "cut leader from store":
      return lasting(CUT_MS, store.cutOff(leader.node));
    case "cut leader off": {
      const mends = [store.cutOff(leader.node), cluster.shut(leader)];
      return lasting(CUT_MS, async () => void (await Promise.all(mends.map((mend) => mend()))));
    }
    case "cut members":
      return lasting(CUT_MS, cluster.shut(leader));
    case "cut follower from store":
      return lasting(CUT_MS, store.cutOff((await cluster.follower()).node));
    default: {
      const harm = store.faults[fault];
      if (!harm) throw new Error(`this store cannot have: ${fault}`);
      return harm();
    }
  }
}

/** Mended after a time. */
async function lasting(ms: number, mend: Mend): Promise<Mend> {
  const endsMs = Date.now() + ms;
  return async () => {
    await pause(Math.max(0, endsMs - Date.now()));
    await mend();
  };
}

async function killed(member: MemberProcess): Promise<Mend> {
  await member.end();
  return () => member.start();
}

/** All members have seen the same log: the id of an append holds that of the one before it. */
async function chainProblems({ members }: TestCluster): Promise<readonly string[]> {
  let seen: unknown;
  for (const endMs = Date.now() + WRITTEN_MS; Date.now() < endMs; await pause(100)) {
    const known = members.map((member) => member.known);
    seen = known;
    const places = new Set(known.map((each) => JSON.stringify(each)));
    if (places.size === 1 && known[0] !== undefined) return [];
  }
  return [`the members have seen different logs: ${JSON.stringify(seen)}`];
}
