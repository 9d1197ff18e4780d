/** The second act: two machines that share one log, and the end of the one that leads. */
import { leaderAt } from "../cast/machines.ts";
import type { Step } from "../player.ts";
import { until } from "../until.ts";

/** What is promised for the loss of a leader is 2 s; a busy machine gets its time. */
const PATIENCE_MS = 20_000;

export const TWO_MACHINES: Step = {
  title: "Two machines",
  says:
    "A team may not want to depend on one machine. Here are two daemons with one log in " +
    "PostgreSQL: one leads, and both answer everything. What is done at the one is there at the " +
    "other.",
  needs: "postgres",
  async play(stage) {
    const { leader, other } = await (await stage.scene.machines()).standing();
    const [there, here] = [`--url ${leader.daemon.url}`, `--url ${other.daemon.url}`];
    await stage.command(`agents register deployer --ttl 5m ${there}`);
    await stage.command(`leases acquire deploy/prod --agent deployer --ttl 5m ${there}`);
    const leases = await stage.command(`leases ${here}`);
    await stage.claim(
      `${other.node} knows what was done at ${leader.node}`,
      /deploy\/prod.*deployer/.test(leases),
    );
  },
};

export const A_FAIL_OVER: Step = {
  title: "The leader is killed",
  says:
    "The machine that leads is gone, without a word. The other hears no sign of life, takes over " +
    "within seconds, and knows all that was acknowledged: the lease, its holder and its token.",
  needs: "postgres",
  async play(stage) {
    const { leader, other } = await (await stage.scene.machines()).standing();
    const here = `--url ${other.daemon.url}`;
    const before = await stage.command(`leases ${here}`);
    await stage.prompt(`kill -9 ${leader.daemon.pid}`);
    const startMs = performance.now();
    await leader.daemon.kill();
    await until("another leader", async () =>
      (await leaderAt(other)) === other.node ? true : undefined,
    );
    const tookMs = performance.now() - startMs;
    await stage.command(`cluster ${here}`);
    const after = await stage.command(`leases ${here}`);
    await stage.command(`leases acquire deploy/next --agent deployer ${here}`);
    const seconds = (tookMs / 1000).toFixed(1);
    await stage.claim(`${other.node} leads after ${seconds} s`, tookMs < PATIENCE_MS);
    const lease = leaseIn(before);
    await stage.claim("and the lease is as it was", lease !== "" && leaseIn(after) === lease);
  },
};

/** Its key, holder and token, without its times. */
function leaseIn(table: string): string {
  return /^deploy\/prod +\S+ deployer +\d+/m.exec(table)?.[0] ?? "";
}
