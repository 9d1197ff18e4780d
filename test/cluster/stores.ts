/** The stores that members share, as servers that can be killed. */
import { NatsCluster } from "../support/nats/server.ts";
import { PostgresServer } from "../support/postgres/server.ts";

export const STORES = ["postgres", "nats"] as const;

export type StoreKind = (typeof STORES)[number];

export interface SharedStore {
  /** By which a member is told of it. */
  readonly flags: readonly string[];
  /** Kills what takes the writes, and resolves with how to bring it back. */
  kill(): Promise<() => Promise<void>>;
  stop(): Promise<void>;
}

export function startStore(kind: StoreKind): Promise<SharedStore> {
  switch (kind) {
    case "postgres":
      return startPostgres();
    case "nats":
      return startNats();
  }
}

async function startPostgres(): Promise<SharedStore> {
  const server = await PostgresServer.start();
  return {
    flags: ["--log", server.url("team")],
    kill: async () => {
      await server.kill();
      await server.restart();
      return async () => undefined;
    },
    stop: () => server.stop(),
  };
}

/** Of three servers the one that leads the stream is killed: the other two elect another. */
async function startNats(): Promise<SharedStore> {
  const servers = await NatsCluster.start();
  return {
    flags: ["--log", servers.url("team"), "--nats-monitor", servers.monitors.join(",")],
    kill: async () => {
      const leader = await servers.leaderOf("rollcall_team");
      await leader.end("SIGKILL");
      return async () => {
        leader.start();
        await servers.untilReady();
      };
    },
    stop: () => servers.stop(),
  };
}
