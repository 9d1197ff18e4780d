/**
 * A daemon inside this process, for tests and for trying things out: the real engine behind the
 * real doors, on free ports, in memory unless told otherwise.
 *
 *   await using daemon = await startEmbedded();
 *   await using keeper = daemon.connect();
 */
import { connect, type KeeperConnectOptions, type Keeper } from "./wires/keeper/client/keeper.ts";
import { formatAddress } from "./daemon/address.ts";
import { startDaemon } from "./daemon/compose.ts";
import { loadConfig } from "./daemon/config.ts";
import type { Clock } from "./core/clock.ts";

export interface EmbeddedOptions {
  /** Keeps the state in this folder, for the next time. */
  readonly dataDir?: string;
  /** Of the gRPC door; a free one unless said. */
  readonly port?: number;
  /** For tests: time moved by hand. */
  readonly clock?: Clock;
}

export interface Embedded extends AsyncDisposable {
  /** HOST:PORT of the gRPC door: what `connect` of `rollcall/keeper` takes. */
  readonly grpcAddress: string;
  /** Of the HTTP door: what `connect` of `rollcall` takes. */
  readonly url: string;
  /** A client of it; yours to close. */
  connect(options?: Omit<KeeperConnectOptions, "address">): Keeper;
  /** Idempotent; done in under 5 s. */
  close(): Promise<void>;
}

export async function startEmbedded(options: EmbeddedOptions = {}): Promise<Embedded> {
  const { dataDir, port = 0, clock } = options;
  const config = await loadConfig({
    flags: {
      addr: `127.0.0.1:${port}`,
      "http-addr": "127.0.0.1:0",
      "log-level": "silent",
      // The agents of this machine are not those of a test.
      "status-files": "false",
      // To ask the system for the user of a connection takes real time.
      ...(clock && { "local-trust": "any" }),
      ...(dataDir === undefined ? { memory: "true" } : { "data-dir": dataDir }),
    },
    // Variables that configure the machine's daemon do not configure this one.
    env: {},
  });
  const daemon = await startDaemon(config, clock ? { clock } : {});
  const grpcAddress = daemon.grpcAddress ? formatAddress(daemon.grpcAddress) : "";
  return {
    grpcAddress,
    url: daemon.httpAddress ? `http://${formatAddress(daemon.httpAddress)}` : "",
    connect: (connectOptions = {}) => connect({ ...connectOptions, address: grpcAddress }),
    close: () => daemon.close(),
    [Symbol.asyncDispose]: () => daemon.close(),
  };
}
