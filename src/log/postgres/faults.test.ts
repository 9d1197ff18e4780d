import { Socket } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { newAppendId, put } from "../../../test/support/log/append.ts";
import {
  collect,
  entriesAfter,
  Follower,
  othersTurn,
  streamAfter,
} from "../../../test/support/log/conformance-case.ts";
import { NOTIFICATION, PostgresProxy } from "../../../test/support/postgres/proxy.ts";
import { PostgresServer } from "../../../test/support/postgres/server.ts";
import { codeOf } from "../../core/errors.ts";
import type { Log, LogPosition } from "../log.ts";
import type { Store } from "../store.ts";
import { POSTGRES } from "./limits.ts";
import { postgresStore, type PostgresStoreOptions } from "./store.ts";

const hasServer = !lacks("postgres");
let primary: PostgresServer;

beforeAll(async () => {
  if (hasServer) primary = await PostgresServer.start();
}, 60_000);

afterAll(async () => {
  if (hasServer) await primary.stop();
});

function storeOf(schema: string, options: Partial<PostgresStoreOptions> = {}): Store {
  const store = postgresStore({ url: primary.url(schema), ...options });
  onTestFinished(() => store.close());
  return store;
}

/** Longer than a server takes to come back, on a busy machine too. */
const PATIENT_MS = 30_000;

describe.skipIf(!hasServer)("a kill of the server in the middle of appends", () => {
  const ROUNDS = 3;

  test("loses nothing that was acknowledged, and nothing is there twice", async () => {
    const { log, streams } = storeOf("kills");
    let at: LogPosition = await log.open();
    let acknowledged = 0;
    let isOver = false;
    const writer = async () => {
      for (let n = 1; !isOver; n += 1) {
        const entries = [`event ${n}`];
        const batch = { entries, streams: [{ stream: "job", entries: [`said ${n}`] }] };
        at = await log.append(batch, at, { id: `kill.${n}`, withinMs: PATIENT_MS });
        acknowledged = n;
      }
    };
    const writing = writer();
    for (let round = 1; round <= ROUNDS; round += 1) {
      const goal = acknowledged + 20;
      await reached(() => acknowledged >= goal, writing);
      await primary.kill();
      await primary.restart();
    }
    const goal = acknowledged + 20;
    await reached(() => acknowledged >= goal, writing);
    isOver = true;
    await writing;

    expect(await entriesAfter(log, 0)).toEqual(counted("event", acknowledged));
    expect(await streamAfter(streams, "job", 0)).toEqual(counted("said", acknowledged));
    expect(at).toEqual({ head: acknowledged, mark: acknowledged });
  }, 120_000);

  test("is waited for by followers, which miss nothing and begin nothing anew", async () => {
    const follower = storeOf("followed");
    const { log } = storeOf("followed");
    let at: LogPosition = await log.open();
    await follower.log.open();
    const followed = new Follower(follower.log, 0);
    const seen: string[] = [];
    for (let n = 1; n <= 3; n += 1) {
      const entries = [`event ${n}`];
      at = await log.append({ entries }, at, { id: `follow.${n}`, withinMs: PATIENT_MS });
      seen.push(...(await followed.through(n)));
      if (n === 1) await primary.kill();
      if (n === 1) await primary.restart();
    }
    followed.stop();
    expect(seen).toEqual(counted("event", 3));
  }, 60_000);
});

describe.skipIf(!hasServer)("a server that is gone without a word", () => {
  async function proxied(schema: string) {
    const proxy = await PostgresProxy.start(primary.port);
    onTestFinished(() => proxy.close());
    const store = storeOf(schema, { url: primary.url(schema, { port: proxy.port }) });
    await store.log.open();
    return { proxy, ...store };
  }

  test("costs an append by a connection that was idle less than a second", async () => {
    const keepAlive = vi.spyOn(Socket.prototype, "setKeepAlive");
    const { proxy, log } = await proxied("idle");
    const at = await log.open();
    // The system asks as well, where nobody uses a connection for hours.
    expect(keepAlive).toHaveBeenCalledWith(true, POSTGRES.keepAliveMs);
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + POSTGRES.idleMs);
    proxy.forget("all");
    expect(await log.append({ entries: ["one"] }, at, { id: newAppendId() })).toEqual({
      head: 1,
      mark: 1,
    });
  });

  test("does not hold up a follower that is to stop, as one that is to lead does", async () => {
    const { proxy, log } = await proxied("stopping");
    const followed = new Follower(log, 0);
    const next = followed.next();
    const asked = new Promise<void>((resolve) => {
      proxy.fate = (type) => {
        if (type !== NOTIFICATION) resolve();
        return "drop";
      };
    });
    await asked;
    const stoppedMs = performance.now();
    followed.stop();
    expect(await next).toBeUndefined();
    expect(performance.now() - stoppedMs).toBeLessThan(POSTGRES.answerMs / 4);
  });

  test("is asked for notifications anew, once followers find what it told nobody of", async () => {
    const { proxy, log } = await proxied("deaf");
    const writer = storeOf("deaf").log;
    await writer.open();
    let told = 0;
    let onLook: () => void = () => undefined;
    proxy.fate = (type) => {
      if (type === NOTIFICATION) told += 1;
      else onLook();
      return "pass";
    };
    const followed = new Follower(log, 0);
    const next = async (head: number) => {
      const looked = new Promise<void>((resolve) => {
        onLook = resolve;
      });
      const seen = followed.through(head);
      await looked;
      await put(writer, { entries: ["event"] }, head - 1);
      await seen;
    };
    const first = followed.through(1);
    await vi.waitFor(() => expect(told).toBe(1), PATIENT_MS);
    await put(writer, { entries: ["event"] }, 0);
    await first;
    proxy.forget("those that listen");
    told = 0;
    for (let head = 2; told === 0 && head < 20; head += 1) await next(head);
    expect(told).toBeGreaterThan(0);
    followed.stop();
  });
});

describe.skipIf(!hasServer)("a server that may lose what it acknowledged", () => {
  test("is refused for each setting, with the way to mend it", async () => {
    for (const [setting, value] of [
      ["fsync", "off"],
      ["full_page_writes", "off"],
      ["synchronous_commit", "local"],
    ] as const) {
      await primary.set(setting, value);
      const open = storeOf("settings").log.open();
      await expect(open).rejects.toMatchObject({ code: "WRONG_STATE" });
      await expect(open).rejects.toThrow(`${setting} is ${value}`);
      await expect(open).rejects.toThrow("log_durability = trust");
      await primary.set(setting, "on");
    }
    await storeOf("settings").log.open();
  });

  test("standbys: refused while asynchronous, waited for while away, taken over from", async () => {
    const standby = await primary.standby("copy");
    onTestFinished(() => standby.stop());
    await primary.until("SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'");

    // An asynchronous standby is refused, or used with a warning.
    const refused = storeOf("copied").log.open();
    await expect(refused).rejects.toThrow("standby copy replicates asynchronously");
    await expect(refused).rejects.toThrow("synchronous_standby_names");
    const warnings: string[] = [];
    const onWarning = (message: string) => warnings.push(message);
    await storeOf("copied", { durability: "trust", onWarning }).log.open();
    expect(warnings).toEqual([expect.stringContaining("standby copy replicates asynchronously")]);

    // So is one that this user may not look at.
    await primary.query("CREATE ROLE plain LOGIN; GRANT CREATE ON DATABASE rollcall TO plain");
    const blind = storeOf("blind", { url: primary.url("blind", { user: "plain" }) }).log.open();
    await expect(blind).rejects.toThrow("GRANT pg_monitor TO plain");

    // Synchronous, it is waited for: a commit that hangs is over in time, and not called done.
    await primary.set("synchronous_standby_names", "ANY 1 (copy)");
    await primary.until("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'quorum'");
    const url = primary.url("copied").replace("127.0.0.1:", `127.0.0.1:${standby.port},127.0.0.1:`);
    const { log } = storeOf("copied", { url });
    await log.open();
    await put(log, { entries: ["one"] }, 0);
    const follows = (await standby.query<{ to: string }>(CONNINFO))[0]?.to ?? "";
    await standby.set("primary_conninfo", "");
    const at = await log.open();
    const hanging = { entries: ["two"], streams: [{ stream: "job", entries: ["said"] }] };
    const id = newAppendId();
    await expectUnknown(log.append(hanging, at, { id, withinMs: 500 }));

    // An operator cancels the wait: the server calls it done, and it is on one machine only.
    const unknown = expectUnknown(log.append(hanging, at, { id, withinMs: 4000 }));
    const { pid: first } = await primary.until<{ pid: number }>(cancelOf(0));
    await primary.until(cancelOf(first));
    await unknown;
    expect(await entriesAfter(log, 1)).toEqual(["two"]);

    // The standby is back: the same append answers, written once.
    await standby.query(`ALTER SYSTEM SET primary_conninfo = '${follows}'`);
    await standby.query("SELECT pg_reload_conf()");
    const position = await log.append(hanging, at, { id, withinMs: PATIENT_MS });
    expect(position.head).toBe(2);

    // The primary dies: the standby has all that was acknowledged, and the store finds it.
    await primary.kill();
    await standby.promote();
    const after = await persist(log, { head: 2, mark: position.mark });
    expect(after.head).toBe(3);
    expect(await entriesAfter(log, 0)).toEqual(["one", "two", "three"]);

    // The old primary comes back with its own end of the story: a reader is told.
    await primary.restart();
    const old = storeOf("copied", { durability: "trust" });
    await old.log.open();
    const lastId = (await log.open()).lastId;
    const diverged = collect(old.log.read(3, lastId));
    await expect(diverged).rejects.toMatchObject({ code: "DIVERGED" });
  }, 120_000);
});

const CONNINFO = "SELECT replace(current_setting('primary_conninfo'), '''', '''''') AS to";

/** Ends the wait for a standby of another session than this one. */
function cancelOf(other: number): string {
  return `
    SELECT pid FROM (
      SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND pid <> ${other} OFFSET 0
    ) AS waiting WHERE pg_cancel_backend(pid)`;
}

async function expectUnknown(append: Promise<LogPosition>): Promise<void> {
  await expect(append).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
}

/** As an engine does: begins again where the log says. */
async function persist(log: Log, at: LogPosition): Promise<LogPosition> {
  const id = newAppendId();
  for (let position = at; ; position = await log.open()) {
    try {
      return await log.append({ entries: ["three"] }, position, { id, withinMs: PATIENT_MS });
    } catch (error) {
      if (codeOf(error) !== "FENCED") throw error;
    }
  }
}

/** Waits for the writer, and rejects when it fails. */
async function reached(isReached: () => boolean, writing: Promise<void>): Promise<void> {
  while (!isReached()) await Promise.race([writing, othersTurn()]);
}

function counted(what: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${what} ${index + 1}`);
}
