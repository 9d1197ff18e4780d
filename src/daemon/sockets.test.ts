/** A port with TLS that is full: those that say nothing go, the oldest first. */
import { once } from "node:events";
import { Agent, get } from "node:https";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import type { IncomingMessage } from "node:http";
import { afterEach, expect, test, vi } from "vitest";
import { authority, pairFolder, pairFor } from "../../test/support/tls/pairs.ts";
import { openDoor } from "../../test/support/daemon/fixture.ts";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { KeyPair } from "../net/tls/pair.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

const signer = authority();
/** A handshake that says no more than that it is one. */
const HANDSHAKE = Buffer.of(22, 3, 1);

async function open(connections: number) {
  const folder = pairFolder(pairFor(["127.0.0.1"], { issuer: signer }));
  const { clientCa: _, ...files } = folder.files;
  const quiet = { onRenewal: () => undefined, onTrouble: () => undefined };
  const pair = await KeyPair.open({ files, clock: new TestClock(), ...quiet });
  let refused = 0;
  const onRefused = () => (refused += 1);
  const { door, port } = await openDoor({ pair, limits: { connections }, onRefused });
  door.mount({ anybody: { "/healthz": () => ({ status: 200, headers: [], body: "ok" }) } });
  cleanups.push(
    () => folder[Symbol.dispose](),
    () => pair.close(),
    () => door.close(0),
  );
  return { door, port, refused: () => refused };
}

async function silent(port: number, bytes?: Buffer): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  cleanups.push(() => socket.destroy());
  await once(socket, "connect");
  if (bytes) socket.write(bytes);
  return socket;
}

async function health(port: number, agent: Agent): Promise<string> {
  const asked = get(`https://127.0.0.1:${port}/healthz`, { agent });
  const [answer] = (await once(asked, "response")) as [IncomingMessage];
  return text(answer);
}

test.each([undefined, HANDSHAKE])(
  "connections that began with %j keep nobody out",
  async (begin) => {
    const { door, port, refused } = await open(4);
    const idle = [];
    for (let i = 0; i < 4; i += 1) {
      idle.push(await silent(port, begin));
      await vi.waitFor(() => expect(door.connections).toBe(i + 1));
    }
    const [oldest] = idle;
    const closed = once(oldest as Socket, "close");
    const agent = new Agent({ ca: signer.cert, keepAlive: true });
    cleanups.push(() => agent.destroy());
    expect(await health(port, agent)).toBe("ok");
    await closed;
    expect(door.connections).toBe(4);
    expect(refused()).toBe(1);
    expect(idle.map(({ destroyed }) => destroyed)).toEqual([true, false, false, false]);
  },
);
