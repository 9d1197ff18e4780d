/** Three NATS servers as the store of a cluster; what is hurt is the one that leads the stream. */
// tidy-allow sleep: faults last for a while
import { setTimeout as pause } from "node:timers/promises";
import { NatsCluster, type NatsServer } from "../support/nats/server.ts";
import { Disk } from "./disk.ts";
import { StoreCables, type Mend, type SharedStore, type StoreOptions } from "./shared-store.ts";

const STREAM = "rollcall_team";
/** Longer than it takes the others to elect another. */
const ASLEEP_MS = 10_000;
const DISK_MB = 128;
/** Nobody has room: members are to notice. */
const FULL_MS = 2_000;

export async function startNats(options: StoreOptions): Promise<SharedStore> {
  const { isWired = false, isSmall = false, isLossy = false } = options;
  const disk = isSmall ? new Disk(DISK_MB) : undefined;
  const servers = await NatsCluster.start({ isWired, ...(disk && { within: disk.folder }) });
  const cables = new StoreCables(servers.servers.map(({ ports }) => ports.client));
  const monitor = ["--nats-monitor", servers.monitors.join(",")];
  const trust = ["--nats-replicas", "1", "--log-durability", "trust"];
  const flags = (url: string) => ["--log", url, ...monitor, ...(isLossy ? trust : [])];
  const hurt = (harm: (leader: NatsServer) => Promise<Mend>) => async () =>
    harm(await servers.leaderOf(STREAM));
  const back = (server: NatsServer) => async () => {
    server.start();
    await servers.untilReady();
  };

  return {
    flags: flags(servers.url("team")),
    flagsOf: async (node) => flags(`nats://${(await cables.hostsOf(node)).join(",")}/team`),
    cutOff: (node) => cables.cutOff(node),
    faults: {
      "kill store": hurt(async (leader) => {
        await leader.end("SIGKILL");
        return back(leader);
      }),
      "end store": hurt(async (leader) => {
        await leader.end("SIGTERM");
        return back(leader);
      }),
      "stop store": hurt(async (leader) => {
        leader.pause();
        await pause(ASLEEP_MS);
        return async () => {
          leader.resume();
          await servers.untilReady();
        };
      }),
      "lose disk": hurt(async (leader) => {
        await leader.end("SIGKILL");
        leader.loseDisk();
        return back(leader);
      }),
      ...(isWired && {
        "cut store": hurt(async (leader) => {
          const routes = servers.cablesOf(leader);
          for (const cable of routes) cable.swallow();
          await pause(ASLEEP_MS);
          return async () => {
            for (const cable of routes) cable.mend();
            await servers.untilReady();
          };
        }),
      }),
      ...(disk && {
        "fill disk": async () => {
          disk.fill();
          await pause(FULL_MS);
          return async () => {
            disk.free();
            // A server that finds no room ends its JetStream until it is started again.
            for (const server of servers.servers) {
              await server.end("SIGTERM");
              server.start();
            }
            await servers.untilReady();
          };
        },
      }),
    },
    stop: async () => {
      cables.close();
      await servers.stop();
      disk?.close();
    },
  };
}
