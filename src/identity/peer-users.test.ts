import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";
import { expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { linesOf, type ConnectionEnds, type Sought } from "./connections.ts";
import { PeerUsers } from "./peer-users.ts";

function ends(remotePort: number): ConnectionEnds {
  const address = "127.0.0.1";
  return { remoteAddress: address, remotePort, localAddress: address, localPort: 9090 };
}

/** Tables with these users, by their port; a read ends when it is told to. */
function tables(users: ReadonlyMap<number, number>) {
  const reads: (() => void)[] = [];
  const read = (sought: readonly Sought[]) =>
    new Promise<void>((resolve) => {
      reads.push(() => {
        for (const [port, uid] of users) {
          const [line = ""] = linesOf(ends(port));
          for (const each of sought) if (each.lines.includes(line)) each.uid = uid;
        }
        resolve();
      });
    });
  return { read, reads, next: () => reads.shift()?.() };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

test("a lone question is a read at once, and has the user or nobody", async () => {
  const { read, next } = tables(new Map([[1, 1000]]));
  const users = new PeerUsers({ clock: new TestClock(), read });
  const known = users.userOf(ends(1));
  await settle();
  next();
  expect(await known).toBe(1000);
  const unknown = users.userOf(ends(2));
  for (let look = 0; look < 2; look += 1) {
    await settle();
    next();
  }
  expect(await unknown).toBeUndefined();
});

test("a line that one read missed is found by the next", async () => {
  const lines = new Map<number, number>();
  const { read, next } = tables(lines);
  const users = new PeerUsers({ clock: new TestClock(), read });
  const asked = users.userOf(ends(1));
  await settle();
  const sameAgain = users.userOf(ends(1));
  next();
  lines.set(1, 1000);
  await settle();
  next();
  expect(await Promise.all([asked, sameAgain])).toEqual([1000, 1000]);
});

test("two calls that come at once by one connection have the same user", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [socket] = (await once(server, "connection")) as [Socket];
  const users = new PeerUsers({ clock: new TestClock() });
  const found = await Promise.all([
    users.userOf(socket as ConnectionEnds),
    users.userOf(socket as ConnectionEnds),
  ]);
  client.destroy();
  server.close();
  expect(found).toEqual([process.getuid?.(), process.getuid?.()]);
});

test("all that wait share one read; a question during a read waits for the next", async () => {
  const { read, reads, next } = tables(
    new Map([
      [1, 1],
      [2, 2],
      [3, 3],
    ]),
  );
  const users = new PeerUsers({ clock: new TestClock(), read });
  const first = users.userOf(ends(1));
  await settle();
  const later = [users.userOf(ends(2)), users.userOf(ends(3))];
  await settle();
  expect(reads).toHaveLength(1);
  next();
  expect(await first).toBe(1);
  await settle();
  expect(reads).toHaveLength(1);
  next();
  expect(await Promise.all(later)).toEqual([2, 3]);
});

test("ten reads a second go on for ever, ten more at once", async () => {
  const clock = new TestClock();
  let reads = 0;
  const users = new PeerUsers({
    clock,
    read: async () => {
      reads += 1;
    },
  });
  const ask = async (times: number) => {
    for (let at = 0; at < times; at += 1) {
      void users.userOf(ends(at));
      await settle();
    }
  };
  await ask(30);
  expect(reads).toBe(10);
  for (let tenth = 1; tenth <= 10; tenth += 1) {
    await clock.advance(100);
    await settle();
    await ask(5);
    expect(reads).toBe(10 + tenth);
  }
});

test("tables that cannot be read name nobody", async () => {
  const read = () => Promise.reject(new Error("no /proc"));
  const users = new PeerUsers({ clock: new TestClock(), read });
  expect(await users.userOf(ends(1))).toBeUndefined();
});
