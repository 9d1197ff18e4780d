/**
 * The open connections by the credential that they were opened with, whatever they speak: a token,
 * a JWT, a certificate. One that is revoked or expires takes its connections with it: streams and
 * sessions ask once who calls.
 *
 * Credentials with connections are looked at twice a second, and only then: that covers one that
 * runs out, one that is revoked here, and one that another node revoked, in one way.
 */
import type { Clock } from "../core/clock.ts";

/** A connection may outlive its credential by so much, at most. */
const LOOK_MS = 500;

/** A socket, as far as it matters here. */
export interface Cuttable {
  readonly destroyed: boolean;
  once(event: "close", call: () => void): unknown;
  destroy(): unknown;
}

export interface CredentialConnectionsOptions {
  readonly clock: Clock;
  /** Whether the credential still opens something. */
  isLive(credential: string): boolean;
}

export class CredentialConnections {
  readonly #options: CredentialConnectionsOptions;
  readonly #byCredential = new Map<string, Set<Cuttable>>();
  /** A proxy has the calls of many on one. */
  readonly #credentialsOf = new WeakMap<Cuttable, string[]>();
  #stopLooking: (() => void) | undefined;

  constructor(options: CredentialConnectionsOptions) {
    this.#options = options;
  }

  /** Called for every call: for a connection that is known it does nothing. */
  add(credential: string, connection: Cuttable): void {
    const known = this.#byCredential.get(credential);
    if (connection.destroyed || known?.has(connection)) return;
    const connections = known ?? new Set();
    this.#byCredential.set(credential, connections.add(connection));
    const credentials = this.#credentialsOf.get(connection);
    if (credentials) credentials.push(credential);
    else this.#follow(connection, credential);
    this.#stopLooking ??= this.#lookLater();
  }

  #follow(connection: Cuttable, first: string): void {
    const credentials = [first];
    this.#credentialsOf.set(connection, credentials);
    connection.once("close", () => {
      for (const credential of credentials) {
        const connections = this.#byCredential.get(credential);
        connections?.delete(connection);
        if (connections?.size === 0) this.#byCredential.delete(credential);
      }
    });
  }

  #lookLater(): () => void {
    return this.#options.clock.after(LOOK_MS, () => {
      this.#look();
      this.#stopLooking = this.#byCredential.size > 0 ? this.#lookLater() : undefined;
    });
  }

  #look(): void {
    for (const [credential, connections] of this.#byCredential) {
      if (this.#options.isLive(credential)) continue;
      for (const connection of connections) connection.destroy();
    }
  }

  /** The doors close the connections themselves. Idempotent. */
  close(): void {
    this.#stopLooking?.();
    this.#byCredential.clear();
  }
}
