import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { linesOf, readConnections } from "./connections.ts";

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const each of cleanUps.splice(0)) await each();
});

const here = { localAddress: "127.0.0.1", localPort: 9090 };

describe("the line of a peer", () => {
  test("has both ends as the kernel prints them, the peer's first", () => {
    const ends = { ...here, remoteAddress: "127.0.0.1", remotePort: 54_321 };
    expect(linesOf(ends)[0]).toBe("0100007F:D431 0100007F:2382");
  });

  test("may stand in either table where IPv4 came mapped", () => {
    const mapped = { localAddress: "::ffff:127.0.0.1", localPort: 9090 };
    expect(linesOf({ ...mapped, remoteAddress: "::ffff:127.0.0.1", remotePort: 54_321 })).toEqual([
      "0100007F:D431 0100007F:2382",
      "0000000000000000FFFF00000100007F:D431 0000000000000000FFFF00000100007F:2382",
    ]);
  });

  test("is one of IPv6 for an address of IPv6", () => {
    const ends = { localAddress: "::1", localPort: 80, remoteAddress: "::1", remotePort: 1 };
    const one = "00000000000000000000000001000000";
    expect(linesOf(ends)).toEqual([`${one}:0001 ${one}:0050`]);
  });
});

async function table(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rollcall-proc-"));
  cleanUps.push(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "tcp"), text);
  return join(folder, "tcp");
}

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n";

async function namedIn(text: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  await readConnections((line, uid) => found.set(line, uid), [await table(text)]);
  return found;
}

function lineOf(port: string, uid: number, inode: number): string {
  return (
    `   7: 0100007F:${port} 0100007F:2382 01 00000000:00000000 00:00000000 00000000 ` +
    `${String(uid).padStart(5)}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`
  );
}

describe("the tables", () => {
  test("name the user of every socket that a process has", async () => {
    const found = await namedIn(HEAD + lineOf("D431", 1000, 81_922) + lineOf("D432", 0, 5));
    expect([...found]).toEqual([
      ["0100007F:D431 0100007F:2382", 1000],
      ["0100007F:D432 0100007F:2382", 0],
    ]);
  });

  test("name nobody for a socket without an inode, which stands there as root's", async () => {
    expect(await namedIn(HEAD + lineOf("D431", 0, 0))).toEqual(new Map());
  });

  test("are read whole where they are larger than a piece", async () => {
    const lines = Array.from({ length: 2000 }, (_, at) =>
      lineOf((0x8000 + at).toString(16).toUpperCase(), at, 1 + at),
    );
    const found = await namedIn(HEAD + lines.join(""));
    expect(found.size).toBe(2000);
    expect(found.get("0100007F:87CF 0100007F:2382")).toBe(0x7cf);
  });

  test.runIf(process.platform === "linux")("of this machine have our own connection", async () => {
    const server = createServer();
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const bound = server.address();
    const client = connect(typeof bound === "object" ? (bound?.port ?? 0) : 0, "127.0.0.1");
    const [socket] = (await once(server, "connection")) as [Socket];
    cleanUps.push(
      () => server.close(),
      () => client.destroy(),
      () => socket.destroy(),
    );
    const { remoteAddress = "", remotePort = 0, localAddress = "", localPort = 0 } = socket;
    const [line = ""] = linesOf({ remoteAddress, remotePort, localAddress, localPort });
    const found = new Map<string, number>();
    await readConnections((each, uid) => found.set(each, uid));
    expect(found.get(line)).toBe(process.getuid?.());
  });
});
