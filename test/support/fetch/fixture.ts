/**
 * For tests of what fetches: time that is moved by hand, and a world of names and addresses behind
 * which there is only ever a server on loopback. It writes down who was asked and who was dialled,
 * so that a test can say who was not.
 */
import { createServer, type RequestListener, type Server } from "node:http";
import { connect as connectTcp, type AddressInfo } from "node:net";
import type { Connect, Dial } from "../../../src/net/fetch/connect.ts";
import type { Timers } from "../../../src/machine/waiting.ts";
import { Fetcher, type FetchFailure, type FetcherOptions } from "../../../src/net/fetch/fetcher.ts";

class HandTimers implements Pick<Timers, "after"> {
  readonly #waiting = new Set<{ readonly atMs: number; readonly call: () => void }>();
  #nowMs = 0;

  after(delayMs: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, call };
    this.#waiting.add(timer);
    return () => this.#waiting.delete(timer);
  }

  advance(byMs: number): void {
    this.#nowMs += byMs;
    for (const timer of this.#waiting) {
      if (timer.atMs > this.#nowMs) continue;
      this.#waiting.delete(timer);
      timer.call();
    }
  }

  get waiting(): number {
    return this.#waiting.size;
  }
}

/** An address of the internet, as far as the fetcher can tell. */
export const OUTSIDE = "93.184.216.34";

export interface WorldOptions extends Omit<FetcherOptions, "resolve" | "connect" | "timers"> {
  /** What a name means, each time it is asked for; by default OUTSIDE. */
  readonly names?: (host: string) => readonly string[];
  /** At which addresses nobody answers. */
  readonly refuses?: (address: string) => boolean;
}

/** A fetcher whose every connection ends at `answer`, whatever address it thinks it dials. */
export async function world(answer: RequestListener, options: WorldOptions = {}): Promise<World> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return new World(server, options);
}

export class World implements AsyncDisposable {
  readonly fetcher: Fetcher;
  readonly timers = new HandTimers();
  /** Names that were looked up, and addresses that were dialled. */
  readonly asked: string[] = [];
  readonly dialled: Dial[] = [];
  readonly failures: FetchFailure[] = [];
  readonly #server: Server;

  constructor(server: Server, { names, refuses, ...options }: WorldOptions) {
    this.#server = server;
    this.fetcher = new Fetcher({
      onFailure: (failure) => this.failures.push(failure),
      ...options,
      timers: this.timers,
      resolve: async (host) => {
        this.asked.push(host);
        return names?.(host) ?? [OUTSIDE];
      },
      connect: async (dial) => {
        this.dialled.push(dial);
        if (refuses?.(dial.address)) throw new Error("connection refused");
        return this.#toServer(dial);
      },
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.fetcher.close();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  readonly #toServer: Connect = async ({ signal }) => {
    const socket = connectTcp({ port: this.port, host: "127.0.0.1", signal });
    return new Promise((resolve, reject) => {
      socket.on("error", reject);
      socket.once("connect", () => resolve(socket));
    });
  };
}
