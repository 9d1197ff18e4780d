/** A daemon, clients of it, and a line between them that can be cut, frozen and mended. */
import { mkdtempSync } from "node:fs";
import { connect as connectTcp, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach } from "vitest";
import {
  connect,
  type KeeperConnectOptions,
  type Keeper,
} from "../../src/wires/keeper/client/keeper.ts";
import { TestClock } from "../support/engine/fixture.ts";
import { startEmbedded, type Embedded, type EmbeddedOptions } from "../../src/embedded.ts";

const clients: (() => Promise<unknown>)[] = [];
const servers: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(clients.splice(0).map((close) => close()));
  for (const close of servers.splice(0).reverse()) await close();
});

export async function daemonOf(options: EmbeddedOptions = {}): Promise<Embedded> {
  const daemon = await startEmbedded(options);
  servers.push(() => daemon.close());
  return daemon;
}

export function clientOf(address: string, options: KeeperConnectOptions = {}): Keeper {
  const keeper = connect({ address, ...options });
  const { clock } = options;
  clients.push(() => (clock instanceof TestClock ? during(clock, keeper.close()) : keeper.close()));
  return keeper;
}

/** Time goes by until it is done. */
export async function during<T>(clock: TestClock, work: Promise<T>): Promise<T> {
  let isDone = false;
  void work.catch(() => undefined).finally(() => (isDone = true));
  while (!isDone) await clock.advance(100);
  return work;
}

/**
 * Time goes by in small steps, and after each the sockets have theirs: what was said on a line is
 * heard before the next.
 */
export async function pass(clock: TestClock, witness: Keeper, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += STEP_MS) {
    await clock.advance(STEP_MS);
    for (let i = 0; i < 3; i += 1) await witness.policies.list();
  }
}

const STEP_MS = 500;

export async function both(
  options: EmbeddedOptions & KeeperConnectOptions = {},
): Promise<{ readonly daemon: Embedded; readonly keeper: Keeper }> {
  const daemon = await daemonOf(options);
  return { daemon, keeper: clientOf(daemon.grpcAddress, options) };
}

export function folder(): string {
  return mkdtempSync(join(tmpdir(), "rollcall-keeper-"));
}

export function portOf(address: string): number {
  return Number(address.split(":").at(-1));
}

/** A line to an address: bytes go through while it is open. */
export interface Line {
  readonly address: string;
  /** Nothing goes through any more, in either direction, and nobody is told. */
  freeze(): void;
  /** What was held back goes through, and everything after it. */
  thaw(): void;
  /** Breaks every connection; new ones may be made. */
  cut(): void;
}

export async function lineTo(target: string): Promise<Line> {
  const ends = new Set<Socket>();
  let isFrozen = false;
  const server = createServer({ noDelay: true }, (near) => {
    const far = connectTcp({ host: "127.0.0.1", port: portOf(target), noDelay: true });
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end);
      end.on("error", () => undefined);
      end.on("data", (chunk) => other.write(chunk));
      end.on("close", () => {
        ends.delete(end);
        other.destroy();
      });
      if (isFrozen) end.pause();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const cut = () => {
    for (const end of ends) end.destroy();
  };
  servers.push(() => {
    cut();
    server.close();
  });
  const bound = server.address();
  return {
    address: `127.0.0.1:${typeof bound === "object" && bound ? bound.port : 0}`,
    freeze() {
      isFrozen = true;
      for (const end of ends) end.pause();
    },
    thaw() {
      isFrozen = false;
      for (const end of ends) end.resume();
    },
    cut,
  };
}
