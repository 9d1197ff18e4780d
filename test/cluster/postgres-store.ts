/**
 * Postgres as the store of a cluster: one server, or wired a primary and a synchronous standby,
 * which takes over when the primary is gone; then another standby is made.
 */
// tidy-allow sleep: faults last for a while
import { setTimeout as pause } from "node:timers/promises";
import { Cable } from "../support/cable.ts";
import { PostgresServer } from "../support/postgres/server.ts";
import { Disk } from "./disk.ts";
import { StoreCables, type SharedStore, type StoreOptions } from "./shared-store.ts";

const ASLEEP_MS = 3_000;
/** The standby gets nothing for so long before it takes over. */
const BEHIND_MS = 300;
const DISK_MB = 256;
/** Nobody has room: members are to notice. */
const FULL_MS = 2_000;
/** A small log of its own, and a standby that is back soon. */
const SETTINGS = {
  wal_keep_size: "16MB",
  max_wal_size: "32MB",
  wal_retrieve_retry_interval: "200",
};

export async function startPostgres(options: StoreOptions): Promise<SharedStore> {
  const { isWired = false, isSmall = false } = options;
  if (isSmall) return onDisk(new Disk(DISK_MB));
  return isWired ? startPair(options) : alone(await PostgresServer.start());
}

function alone(server: PostgresServer): SharedStore {
  const flags = ["--log", server.url("team")];
  return {
    flags,
    flagsOf: async () => flags,
    cutOff: () => async () => undefined,
    faults: {
      "kill store": async () => {
        await server.kill();
        await server.restart();
        return async () => undefined;
      },
    },
    stop: () => server.stop(),
  };
}

async function onDisk(disk: Disk): Promise<SharedStore> {
  const server = await PostgresServer.start({
    within: disk.folder,
    settings: SETTINGS,
    walFile: 1,
  });
  const store = alone(server);
  return {
    ...store,
    faults: {
      "fill disk": async () => {
        disk.fill();
        await pause(FULL_MS);
        return async () => {
          disk.free();
          // A server that cannot write its log ends, and is its operator's to start.
          if (!server.isRunning) await server.restart();
        };
      },
    },
    stop: async () => {
      await store.stop();
      disk.close();
    },
  };
}

async function startPair({ isLossy = false }: StoreOptions): Promise<SharedStore> {
  let primary = await PostgresServer.start({ settings: SETTINGS });
  const link = await Cable.open();
  const follow = async () => {
    link.port = primary.port;
    link.mend();
    const { port } = new URL(`http://${link.host}`);
    const onCopied = async () => {
      if (!isLossy) await primary.set("synchronous_standby_names", "ANY 1 (copy)");
    };
    return primary.standby("copy", { port: Number(port), onCopied });
  };
  let standby = await follow();
  const cables = new StoreCables([primary.port, standby.port]);
  const trust = isLossy ? ["--log-durability", "trust"] : [];
  const flags = (url: string) => ["--log", url, ...trust];
  const through = (hosts: readonly string[]) =>
    primary.url("team").replace(/127\.0\.0\.1:\d+/, hosts.join(","));

  return {
    flags: flags(through([primary, standby].map(({ port }) => `127.0.0.1:${port}`))),
    flagsOf: async (node) => flags(through(await cables.hostsOf(node))),
    cutOff: (node) => cables.cutOff(node),
    faults: {
      "kill store": async () => {
        await primary.kill();
        await primary.restart();
        return async () => undefined;
      },
      "stop store": async () => {
        primary.signal("SIGSTOP");
        await pause(ASLEEP_MS);
        return async () => primary.signal("SIGCONT");
      },
      "cut standby": async () => {
        link.swallow();
        await pause(ASLEEP_MS);
        return async () => link.mend();
      },
      promote: async () => {
        link.swallow();
        await pause(BEHIND_MS);
        await primary.kill();
        await standby.promote();
        return async () => {
          const old = primary;
          primary = standby;
          standby = await follow();
          cables.replace(old.port, standby.port);
          await old.stop();
        };
      },
    },
    stop: async () => {
      cables.close();
      link.close();
      await Promise.all([primary.stop(), standby.stop()]);
    },
  };
}
