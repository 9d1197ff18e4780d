/**
 * For how long no command is acknowledged when a member or the store's own leader goes: three
 * members that are processes, under load. A store that is slow makes followers patient on purpose,
 * so rounds before which more than a hundredth of the appends took over 100 ms are counted apart.
 */
import { hurt, type Fault } from "../../test/cluster/faults.ts";
import { TestCluster } from "../../test/cluster/members.ts";
import type { StoreKind } from "../../test/cluster/stores.ts";
import { isQuick, percentile, report } from "../measure.ts";

interface Harm {
  readonly fault: Fault;
  readonly words: string;
  readonly rounds: number;
  /** In seconds. */
  readonly p50?: number;
  readonly most?: number;
}

const OF_MEMBERS: readonly Harm[] = [
  { fault: "kill leader", words: "kill -9 of the leader", rounds: 50, p50: 1.5, most: 2 },
  { fault: "step down", words: "the leader steps down", rounds: 10, p50: 0.3 },
];

const HARMS: Readonly<Record<StoreKind, readonly Harm[]>> = {
  postgres: OF_MEMBERS,
  nats: [
    ...OF_MEMBERS,
    { fault: "kill store", words: "kill -9 of the server that leads", rounds: 5, most: 10 },
    { fault: "end store", words: "SIGTERM to the server that leads", rounds: 5, p50: 0.5 },
  ],
};

const QUICK_ROUNDS = 3;

export async function compareFailovers(name: string, kind: StoreKind): Promise<void> {
  const cluster = await TestCluster.start(kind);
  try {
    for (const harm of HARMS[kind]) await measure(name, cluster, harm);
  } finally {
    await cluster.close();
  }
}

async function measure(name: string, cluster: TestCluster, harm: Harm): Promise<void> {
  const { fault, words, p50, most } = harm;
  const length = isQuick ? QUICK_ROUNDS : harm.rounds;
  const { rounds, problems } = await hurt(
    cluster,
    Array.from({ length }, () => fault),
  );
  if (problems.length > 0) throw new Error(`${name}, ${words}: ${problems.join("; ")}`);
  const quick = rounds.filter((round) => round.isQuick).map(({ silentMs }) => silentMs / 1000);
  const title = `${name}, ${words}`;
  const [middle, longest] = [percentile(quick, 0.5), percentile(quick, 1)];
  const aim = (atMost: number | undefined) => atMost !== undefined && { target: { atMost } };
  report({ name: `${title}, silence p50`, value: middle, unit: "s", ...aim(p50) });
  report({ name: `  most of ${quick.length}`, value: longest, unit: "s", ...aim(most) });
  const slow = rounds.length - quick.length;
  if (slow > 0) report({ name: "  rounds with a slow store, left out", value: slow, unit: "" });
}
