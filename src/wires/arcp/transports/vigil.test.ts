import { once } from "node:events";
import { createServer } from "node:http";
import { connect, type AddressInfo, type Socket } from "node:net";
import { array, assert, constantFrom, nat, property } from "fast-check";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { TestClock } from "../../../../test/support/engine/fixture.ts";
import { newWaiting } from "../../../net/waiting.ts";
import { IncompleteMessage } from "./incomplete.ts";
import { TRANSPORT } from "./limits.ts";
import { Upgrades } from "./upgrades.ts";

/** A frame as a client sends it, masked. */
function frame(kind: number, length: number): Buffer {
  const header = Buffer.alloc(length > 0xffff ? 14 : length > 125 ? 8 : 6);
  header[0] = kind;
  header[1] = 0x80 | (length > 0xffff ? 127 : length > 125 ? 126 : length);
  if (length > 0xffff) header.writeUInt32BE(length, 6);
  else if (length > 125) header.writeUInt16BE(length, 2);
  return Buffer.concat([header, Buffer.alloc(length, "x")]);
}

/** What kernels keep of it for somebody who does not read is little beside all of it. */
const PING_TEXT = "many".padEnd(120, ".");
const [TEXT, BEGINNING, MIDDLE, END, PING] = [0x81, 0x01, 0x00, 0x80, 0x89];

describe("an incomplete message", () => {
  test("costs something from its first byte to its last, however it is cut", () => {
    const lengths = constantFrom(0, 1, 125, 126, 65_535, 65_536, 70_000);
    const message = array(lengths, { minLength: 1, maxLength: 4 });
    assert(
      property(message, array(nat(), { maxLength: 6 }), (parts, cuts) => {
        const last = parts.length - 1;
        const frames = parts.flatMap((length, i) => {
          const begin = i === 0 ? (last === 0 ? TEXT : BEGINNING) : i === last ? END : MIDDLE;
          return [frame(begin, length), ...(i < last ? [frame(PING, 5)] : [])];
        });
        const bytes = Buffer.concat(frames);
        const incomplete = new IncompleteMessage();
        const places = cuts.map((cut) => cut % bytes.length).toSorted((a, b) => a - b);
        let from = 0;
        for (const to of [...places, bytes.length]) {
          if (to > from) incomplete.push(bytes.subarray(from, to));
          if (to > from && to < bytes.length) expect(incomplete.bytes).toBeGreaterThanOrEqual(to);
          from = to;
        }
        expect(incomplete.bytes).toBe(0);
      }),
    );
  });

  test("of many small frames costs more than its bytes", () => {
    const incomplete = new IncompleteMessage();
    incomplete.push(frame(BEGINNING, 1));
    for (let i = 0; i < 99; i += 1) incomplete.push(frame(MIDDLE, 1));
    expect(incomplete.bytes).toBeGreaterThan(100 * 256);
  });

  test("is what remains behind a whole one", () => {
    const incomplete = new IncompleteMessage();
    incomplete.push(Buffer.concat([frame(TEXT, 1_000), frame(TEXT, 100).subarray(0, 50)]));
    expect(incomplete.bytes).toBe(50);
  });
});

const UPGRADE =
  "GET /arcp HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n" +
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n";

async function ground() {
  const clock = new TestClock();
  const waiting = newWaiting(clock);
  const { websocket_messages: messages } = waiting;
  const upgrades = new Upgrades({
    accept: (transport) => {
      transport.open({ onFrame() {}, onDrained() {}, onClosed() {} });
    },
    waiting,
    clock,
  });
  const server = createServer().on("upgrade", upgrades.upgrade).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    upgrades.close();
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const dial = async (): Promise<Socket> => {
    const socket = connect(port, "127.0.0.1");
    onTestFinished(() => void socket.destroy());
    socket.write(UPGRADE);
    await once(socket, "data");
    return socket;
  };
  return { clock, messages, dial };
}

test("a message that does not come whole ends its connection after 30 s", async () => {
  const { clock, messages, dial } = await ground();
  const socket = await dial();
  socket.on("data", () => socket.write(frame(0x8a, 0)));
  socket.write(frame(TEXT, 1_000).subarray(0, 900));
  await vi.waitFor(() => expect(messages.bytes).toBeGreaterThan(900));
  const closed = once(socket, "close");
  await clock.advance(messages.limits.ms);
  await closed;
  await vi.waitFor(() => expect(messages).toMatchObject({ bytes: 0, cuts: 1 }));
});

test("of the pings of a client that reads nothing the last one is answered", async () => {
  const { dial } = await ground();
  const socket = await dial();
  socket.pause();
  const [many, last] = [PING_TEXT, "last".padEnd(PING_TEXT.length)].map((text) => {
    const bytes = frame(PING, text.length);
    bytes.write(text, 6);
    return bytes;
  });
  const flood = Buffer.concat(Array.from({ length: 100_000 }, () => many ?? Buffer.of()));
  await new Promise((written) => socket.write(flood, written));
  await new Promise((written) => socket.write(last ?? "", written));
  let heard = "";
  socket.on("data", (bytes: Buffer) => (heard += bytes.toString("latin1"))).resume();
  await vi.waitFor(() => expect(heard.trimEnd().endsWith("last")).toBe(true));
  expect(heard.split(PING_TEXT).length).toBeLessThan(100_000);
});

test("a client that does not answer pings is let go of; one that does stays", async () => {
  const { clock, dial } = await ground();
  const [dead, alive] = [await dial(), await dial()];
  let pings = 0;
  alive.on("data", (bytes: Buffer) => {
    if (bytes[0] !== PING) return;
    pings += 1;
    alive.write(frame(0x8a, 0));
  });
  const closed = once(dead.resume(), "close");
  await clock.advance(TRANSPORT.pingMs);
  await vi.waitFor(() => expect(pings).toBe(1));
  await clock.advance(TRANSPORT.pingMs);
  await closed;
  await vi.waitFor(() => expect(pings).toBe(2));
  expect(alive.destroyed).toBe(false);
});
