/** Two daemons, each as on a machine of its own, that share one log in a PostgreSQL. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { connect } from "../../../src/wires/api/client/client.ts";
import { PostgresServer } from "../../support/postgres/server.ts";
import { Daemon } from "../daemon.ts";
import type { Place } from "../place.ts";
import { until } from "../until.ts";

const NAMES = ["box-1", "box-2"] as const;

export interface Member {
  readonly node: string;
  readonly daemon: Daemon;
}

export class TwoMachines {
  readonly members: readonly Member[];

  static async start(place: Place): Promise<TwoMachines> {
    const server = await PostgresServer.start();
    place.hold({ close: () => server.stop(), endNow: () => endNow(server) });
    const members: Member[] = [];
    for (const node of NAMES) {
      const { ROLLCALL_CONFIG: _, ROLLCALL_URL: __, ...env } = place.env;
      const settings = {
        ROLLCALL_LOG: server.url("tour"),
        ROLLCALL_NODE: node,
        ROLLCALL_DATA_DIR: join(place.home, node),
        ROLLCALL_CLUSTER_ADDR: "127.0.0.1:0",
        ROLLCALL_STATUS_FILES: "false",
      };
      const daemon = await Daemon.start({ env: { ...env, ...settings }, cwd: place.home });
      place.hold(daemon);
      members.push({ node, daemon });
    }
    return new TwoMachines(members);
  }

  private constructor(members: readonly Member[]) {
    this.members = members;
  }

  /** The one that leads, as this member says, and the others. */
  async standing(): Promise<{ readonly leader: Member; readonly other: Member }> {
    return until("a leader", async () => {
      const [first] = this.members;
      const leads = first && (await leaderAt(first));
      const leader = this.members.find(({ node }) => node === leads);
      const other = this.members.find((each) => each !== leader);
      return leader && other && { leader, other };
    });
  }
}

export async function leaderAt({ daemon }: Member): Promise<string | undefined> {
  const client = connect({ url: daemon.url });
  try {
    const { leader } = (await client.get("/v1/cluster")) as { readonly leader?: string };
    return leader;
  } finally {
    client.close();
  }
}

function endNow(server: PostgresServer): void {
  if (server.pid !== undefined) process.kill(server.pid, "SIGQUIT");
  rmSync(server.folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}
