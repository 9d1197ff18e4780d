/** Servers that are killed while two stores append: nothing acknowledged is lost, nothing twice. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { newAppendId, put } from "../../../test/support/log/append.ts";
import { collect, entriesAfter, streamAfter } from "../../../test/support/log/conformance-case.ts";
import { NatsCluster, type NatsServer } from "../../../test/support/nats/server.ts";
import { codeOf } from "../../core/errors.ts";
import type { LogPosition } from "../log.ts";
import type { Store } from "../store.ts";
import { natsStore } from "./store.ts";

vi.setConfig({ testTimeout: 120_000 });

const hasServer = !lacks("nats");

describe.skipIf(!hasServer)("when a NATS server is killed", () => {
  let servers: NatsCluster;

  beforeAll(async () => {
    servers = await NatsCluster.start();
  }, 60_000);

  afterAll(() => servers.stop());

  function storeOf(name: string, replicas = 3): Store {
    const { monitors } = servers;
    const durability = replicas < 3 ? "trust" : "strict";
    const store = natsStore({ url: servers.url(name), monitors, replicas, durability });
    onTestFinished(() => store.close());
    return store;
  }

  test("what two writers were told is there, once, in the log and in the stream", async () => {
    const stores = [storeOf("kill"), storeOf("kill")];
    await Promise.all(stores.map(({ log }) => log.open()));
    const written: string[] = [];
    let isOver = false;
    /** Appends against the other one, until told to stop; doubtful ones under the same id. */
    const write = async ({ log }: Store, writer: number) => {
      let at: LogPosition = await log.open();
      for (let n = 0; !isOver; n += 1) {
        const entry = `${writer}.${n}`;
        const batch = { entries: [entry], streams: [{ stream: "job", entries: [entry] }] };
        const id = newAppendId();
        for (let isDone = false; !isDone;) {
          try {
            at = await log.append(batch, at, { id });
            written.push(entry);
            isDone = true;
          } catch (error) {
            const code = codeOf(error);
            if (code === "FENCED") at = await log.open().catch(() => at);
            else if (!["OUTCOME_UNKNOWN", "UNAVAILABLE"].includes(code)) throw error;
          }
        }
      }
    };
    const writers = stores.map(write);
    const [first] = stores;
    if (!first) throw new Error("there is no store");
    for (let round = 0; round < 2; round += 1) {
      const before = written.length;
      await vi.waitFor(() => expect(written.length).toBeGreaterThan(before + 20), 30_000);
      const leader = await servers.leaderOf("rollcall_kill");
      await leader.end("SIGKILL");
      const during = written.length;
      await vi.waitFor(() => expect(written.length).toBeGreaterThan(during + 20), 40_000);
      leader.start();
      await servers.untilReady();
    }
    isOver = true;
    await Promise.all(writers);
    const { log, streams } = storeOf("kill");
    await log.open();
    const entries = await entriesAfter(log, 0);
    expect(entries.toSorted()).toEqual(written.toSorted());
    expect(await streamAfter(streams, "job", 0)).toEqual(entries);
  });

  test("appends go straight to the server that leads, and to the next one", async () => {
    for (const name of ["near1", "near2", "near3"]) {
      const { log } = storeOf(name);
      let at: LogPosition = await log.open();
      const append = async () => {
        at = await log.append({ entries: ["one"] }, at, { id: newAppendId() });
      };
      for (let leads = 1; leads <= 2; leads += 1) {
        const leader = await servers.leaderOf(`rollcall_${name}`);
        await vi.waitFor(async () => {
          const before = await messagesTo(leader);
          for (let n = 0; n < 5; n += 1) await append();
          expect(await messagesTo(leader)).toBeGreaterThanOrEqual(before + 5);
        }, 20_000);
        if (leads === 1) await leader.end("SIGTERM");
      }
      for (const server of servers.servers) if (!server.isRunning) server.start();
      await servers.untilReady();
    }
  });

  /** From stores that are connected to it. */
  async function messagesTo(server: NatsServer): Promise<number> {
    const answer = await fetch(`http://127.0.0.1:${server.ports.monitor}/connz`);
    const { connections } = (await answer.json()) as {
      readonly connections: readonly { readonly name?: string; readonly in_msgs: number }[];
    };
    const ours = connections.filter(({ name }) => name === "rollcall");
    return ours.reduce((sum, connection) => sum + connection.in_msgs, 0);
  }

  test("with three replicas its disk may be lost as well; with one that is noticed", async () => {
    const [kept, lost] = [storeOf("kept"), storeOf("lost", 1)];
    for (const { log } of [kept, lost]) {
      await log.open();
      await put(log, { entries: ["acknowledged"] }, 0);
    }
    const alone = await servers.leaderOf("rollcall_lost");
    await alone.end("SIGKILL");
    alone.loseDisk();
    alone.start();
    await servers.untilReady();
    expect(await entriesAfter(kept.log, 0)).toEqual(["acknowledged"]);
    const code = await collect(lost.log.read(0)).then(() => "read", codeOf);
    expect(code).toMatch(/STORAGE_CORRUPT|UNAVAILABLE/);
  });
});
