/**
 * The open connections by the token that they were opened with, whatever they speak. A token that
 * is revoked or expires takes its connections with it: streams and sessions ask once who calls.
 *
 * Tokens with connections are looked at twice a second, and only then: that covers a token that
 * runs out, one that is revoked here, and one that another node revoked, in one way.
 */
import type { Clock } from "../core/clock.ts";

/** A connection may outlive its token by so much, at most. */
const LOOK_MS = 500;

/** A socket, as far as it matters here. */
export interface Cuttable {
  readonly destroyed: boolean;
  once(event: "close", call: () => void): unknown;
  destroy(): unknown;
}

export interface TokenConnectionsOptions {
  readonly clock: Clock;
  /** Whether the token with this hash still opens something. */
  isLive(hash: string): boolean;
}

export class TokenConnections {
  readonly #options: TokenConnectionsOptions;
  readonly #byHash = new Map<string, Set<Cuttable>>();
  #stopLooking: (() => void) | undefined;

  constructor(options: TokenConnectionsOptions) {
    this.#options = options;
  }

  /** Called for every call: for a connection that is known it does nothing. */
  add(hash: string, connection: Cuttable): void {
    const known = this.#byHash.get(hash);
    if (connection.destroyed || known?.has(connection)) return;
    const connections = known ?? new Set();
    this.#byHash.set(hash, connections.add(connection));
    connection.once("close", () => {
      connections.delete(connection);
      if (connections.size === 0) this.#byHash.delete(hash);
    });
    this.#stopLooking ??= this.#lookLater();
  }

  #lookLater(): () => void {
    return this.#options.clock.after(LOOK_MS, () => {
      this.#look();
      this.#stopLooking = this.#byHash.size > 0 ? this.#lookLater() : undefined;
    });
  }

  #look(): void {
    for (const [hash, connections] of this.#byHash) {
      if (this.#options.isLive(hash)) continue;
      for (const connection of connections) connection.destroy();
    }
  }

  /** The doors close the connections themselves. Idempotent. */
  close(): void {
    this.#stopLooking?.();
    this.#byHash.clear();
  }
}
