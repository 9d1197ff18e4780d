import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { put } from "../../../test/support/log/append.ts";
import { entriesAfter } from "../../../test/support/log/conformance-case.ts";
import { NatsCluster } from "../../../test/support/nats/server.ts";
import type { Store } from "../store.ts";
import { natsStore, type NatsStoreOptions } from "./store.ts";

const hasServer = !lacks("nats");

function storeOf(options: NatsStoreOptions): Store {
  const store = natsStore(options);
  onTestFinished(() => store.close());
  return store;
}

describe.skipIf(!hasServer)("servers that may lose what they acknowledged", () => {
  let server: NatsCluster;

  beforeAll(async () => {
    const authorization = "authorization { user: admin, password: admin }";
    server = await NatsCluster.start({ servers: 1, syncInterval: "2m", authorization });
  }, 60_000);

  afterAll(() => server.stop());

  const options = (name: string) => ({
    url: server.url(name).replace("nats://", "nats://admin@"),
    credentials: () => Promise.resolve("admin"),
    replicas: 1,
  });

  test("are refused, with how to mend it: one replica, and files that are not synced", async () => {
    const { log } = storeOf({ ...options("strict"), monitors: server.monitors });
    const open = log.open();
    await expect(open).rejects.toMatchObject({ code: "WRONG_STATE" });
    await expect(open).rejects.toThrow("stream rollcall_strict has 1 replica: nats stream edit");
    await expect(open).rejects.toThrow("server n1 does not sync each write: set sync_interval");
    await expect(open).rejects.toThrow("log_durability = trust");
  });

  test("are refused when nobody tells how they sync", async () => {
    const open = storeOf(options("blind")).log.open();
    await expect(open).rejects.toThrow("a client cannot see how servers sync their files");
    await expect(open).rejects.toThrow("nats_monitor");
  });

  test("are used with a warning where that is accepted", async () => {
    const warnings: string[] = [];
    const onWarning = (message: string) => void warnings.push(message);
    const { log } = storeOf({ ...options("trusted"), durability: "trust", onWarning });
    await log.open();
    await put(log, { entries: ["one"] }, 0);
    expect(await entriesAfter(log, 0)).toEqual(["one"]);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("may lose what it acknowledged: stream rollcall_trusted has 1");
  });

  test("cannot hold a log of three replicas, and say what is missing", async () => {
    const open = storeOf({ ...options("three"), replicas: 3 }).log.open();
    await expect(open).rejects.toThrow("has too few servers with JetStream");
  });

  test("do not let in a stranger, and no message repeats the password", async () => {
    const wrong = { ...options("locked"), credentials: () => Promise.resolve("hunter2") };
    const open = storeOf(wrong).log.open();
    await expect(open).rejects.toMatchObject({ code: "UNAVAILABLE" });
    await expect(open).rejects.toThrow("check the user of the URL, and log_credentials_file");
    await expect(open).rejects.not.toThrow("hunter2");
  });
});

describe.skipIf(!hasServer)("servers as they are by default", () => {
  test("are refused for messages that are too small", async () => {
    const server = await NatsCluster.start({ servers: 1, maxPayload: "1MB" });
    onTestFinished(() => server.stop());
    const { log } = storeOf({ url: server.url("small"), replicas: 1, durability: "trust" });
    await expect(log.open()).rejects.toThrow("set max_payload: 8MB on all servers");
  });
});
