import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { put } from "../../../test/support/log/append.ts";
import { entriesAfter, Follower } from "../../../test/support/log/conformance-case.ts";
import { NatsCluster } from "../../../test/support/nats/server.ts";
import type { Log } from "../log.ts";
import { Connection } from "./driver.ts";
import { NATS } from "./limits.ts";
import { natsStore } from "./store.ts";

const hasServer = !lacks("nats");

describe.skipIf(!hasServer)("when the servers close a connection for good", () => {
  let servers: NatsCluster;

  beforeAll(async () => {
    servers = await NatsCluster.start({ servers: 1 });
  }, 60_000);

  afterAll(() => servers.stop());

  async function opened(): Promise<Log> {
    const store = natsStore({ url: servers.url("closed"), replicas: 1, durability: "trust" });
    onTestFinished(() => store.close());
    await store.log.open();
    return store.log;
  }

  async function connections(): Promise<number> {
    const [monitor = ""] = servers.monitors;
    const answer = (await (await fetch(`${monitor}/connz`)).json()) as { num_connections: number };
    return answer.num_connections;
  }

  // As they do with one whose credentials are not taken any more.
  test("a follower hears what is appended by a new one, which all its reads share", async () => {
    const subscribed = vi.spyOn(Connection.prototype, "subscribe");
    const writer = await opened();
    const log = await opened();
    const followed = new Follower(log, 0);
    await put(writer, { entries: ["one"] }, 0);
    expect(await followed.through(1)).toEqual(["one"]);
    await entriesAfter(writer, 0);
    const before = await connections();

    const waits = followed.through(2);
    await (subscribed.mock.contexts[0] as Connection).close();
    const reads = await Promise.all([1, 2, 3, 4].map(() => entriesAfter(log, 0)));
    expect(reads).toEqual([["one"], ["one"], ["one"], ["one"]]);
    await put(writer, { entries: ["two"] }, 1);
    await waits;
    const heardMs: number[] = [];
    for (let head = 2; head < 5; head += 1) {
      await put(writer, { entries: ["more"] }, head);
      const writtenMs = performance.now();
      await followed.through(head + 1);
      heardMs.push(performance.now() - writtenMs);
    }
    // One who only looks sees each a look after the one before.
    expect(Math.min(...heardMs)).toBeLessThan(NATS.lookMs / 2);
    expect(await connections()).toBe(before);
  });
});
