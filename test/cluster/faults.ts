/**
 * Rounds of faults against a cluster under load: the leader is killed, stopped and continued, or
 * asked to step down; a member that follows is killed; the store is killed and comes back. Each
 * round says how long no command was acknowledged.
 */
// tidy-allow sleep: faults last for a while
import { setTimeout as pause } from "node:timers/promises";
import { Load } from "./load.ts";
import type { MemberProcess, TestCluster } from "./members.ts";

export const FAULTS = [
  "kill leader",
  "stop leader",
  "step down",
  "kill follower",
  "kill store",
] as const;

export type Fault = (typeof FAULTS)[number];

/** How long a stopped leader sleeps: longer than it takes the others to elect another. */
const ASLEEP_MS = 8_000;
/** Before and after each fault there is ordinary life. */
const CALM_MS = 1_000;
const BACK_MS = 30_000;

export interface Round {
  readonly fault: Fault;
  /** The longest time without an acknowledged command, from the fault until all is well again. */
  readonly silentMs: number;
}

export interface Outcome {
  readonly rounds: readonly Round[];
  readonly acknowledged: number;
  readonly jobs: number;
  readonly problems: readonly string[];
}

export async function hurt(
  cluster: TestCluster,
  faults: readonly Fault[],
  tell: (line: string) => void = () => undefined,
): Promise<Outcome> {
  const load = new Load(cluster.members);
  const rounds: Round[] = [];
  const troubles: string[] = [];
  for (const fault of faults) {
    await pause(CALM_MS);
    load.turnOver();
    const atMs = Date.now();
    const mend = await inflict(cluster, fault);
    await pause(CALM_MS);
    await mend();
    await cluster.settled();
    const silentMs = load.longestSilenceMs(atMs);
    if (silentMs > BACK_MS) troubles.push(`no command was acknowledged for 30 s: ${fault}`);
    rounds.push({ fault, silentMs });
    tell(`${fault}: no command was acknowledged for ${silentMs} ms`);
  }
  await pause(CALM_MS);
  const problems = [...troubles, ...(await load.end(await cluster.leader()))];
  return { rounds, acknowledged: load.acknowledged, jobs: load.jobs, problems };
}

/** Resolves with how to mend it. */
async function inflict(cluster: TestCluster, fault: Fault): Promise<() => Promise<void>> {
  const leader = await cluster.leader();
  switch (fault) {
    case "kill leader":
      return killed(leader);
    case "kill follower":
      return killed(await cluster.follower());
    case "stop leader": {
      leader.signal("SIGSTOP");
      const wakeMs = Date.now() + ASLEEP_MS;
      return async () => {
        await pause(Math.max(0, wakeMs - Date.now()));
        leader.signal("SIGCONT");
      };
    }
    case "step down":
      await fetch(`${leader.url}/v1/cluster/step-down`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: "{}",
      });
      return async () => undefined;
    case "kill store":
      return cluster.store.kill();
  }
}

async function killed(member: MemberProcess): Promise<() => Promise<void>> {
  await member.end();
  return () => member.start();
}
