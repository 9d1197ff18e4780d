import { writeFile, mkdtemp, rm } from "node:fs/promises";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { linesOf, readConnections, type Sought } from "./connections.ts";

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

/** The users of the connections with these ports. */
async function usersIn(text: string, ...ports: readonly string[]) {
  const sought = ports.map((port): Sought => ({ lines: [`0100007F:${port} 0100007F:2382`] }));
  await readConnections(sought, [await table(text), "/none"]);
  return sought.map(({ uid }) => uid);
}

function lineOf(port: string, uid: number, inode: number): string {
  return (
    `   7: 0100007F:${port} 0100007F:2382 01 00000000:00000000 00:00000000 00000000 ` +
    `${String(uid).padStart(5)}        0 ${inode} 1 0000000000000000 20 4 30 10 -1\n`
  );
}

describe("the tables", () => {
  test("name the user of every socket that a process has, where somebody asks", async () => {
    const text = HEAD + lineOf("D431", 1000, 81_922) + lineOf("D432", 0, 5) + lineOf("D433", 7, 9);
    expect(await usersIn(text, "D431", "D432", "D499")).toEqual([1000, 0, undefined]);
  });

  test("name nobody for a socket without an inode, which stands there as root's", async () => {
    expect(await usersIn(HEAD + lineOf("D431", 0, 0), "D431")).toEqual([undefined]);
  });

  test("are read whole where they are larger than a piece", async () => {
    const ports = Array.from({ length: 2000 }, (_, at) => (0x8000 + at).toString(16).toUpperCase());
    const lines = ports.map((port, at) => lineOf(port, at, 1 + at));
    expect(await usersIn(HEAD + lines.join(""), ...ports)).toEqual(ports.map((_, at) => at));
  });

  test("are not read where they cannot have what is missing", async () => {
    const one = "00000000000000000000000001000000";
    const six = { localAddress: "::1", localPort: 9090, remoteAddress: "::1", remotePort: 54_321 };
    const line = lineOf("D431", 1000, 5);
    // A folder cannot be read.
    const unread = tmpdir();
    const four: Sought = { lines: ["0100007F:D431 0100007F:2382"] };
    await readConnections([four], [await table(HEAD + line), unread]);
    const other: Sought = { lines: linesOf(six) };
    const text = HEAD + line.replaceAll("0100007F", one);
    await readConnections([other], [unread, await table(text)]);
    expect([four.uid, other.uid]).toEqual([1000, 1000]);
    const none: Sought = { lines: ["0100007F:D499 0100007F:2382"] };
    await expect(readConnections([none], [await table(HEAD), unread])).rejects.toThrow("EISDIR");
  });

  test("have a mapped address in that of IPv6", async () => {
    const mapped = "0000000000000000FFFF00000100007F";
    const ends = { ...here, remoteAddress: "127.0.0.1", remotePort: 54_321 };
    const sought: Sought = { lines: linesOf(ends) };
    const six = HEAD + lineOf("D431", 7, 5).replaceAll("0100007F", mapped);
    await readConnections([sought], [await table(HEAD), await table(six)]);
    expect(sought.uid).toBe(7);
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
    const sought: Sought = { lines: [line] };
    await readConnections([sought]);
    expect(sought.uid).toBe(process.getuid?.());
  });
});
