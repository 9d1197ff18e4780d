import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { lacks } from "../../../scripts/prerequisites.mjs";
import { newAppendId, put } from "../../../test/support/log/append.ts";
import {
  collect,
  entriesAfter,
  Follower,
  numbered,
} from "../../../test/support/log/conformance-case.ts";
import { storeConformance } from "../../../test/support/log/conformance.ts";
import { NOTIFICATION, PostgresProxy } from "../../../test/support/postgres/proxy.ts";
import { PostgresServer } from "../../../test/support/postgres/server.ts";
import { codeOf } from "../../core/errors.ts";
import type { Store } from "../store.ts";
import { postgresStore, type PostgresStoreOptions } from "./store.ts";

let server: PostgresServer;
let schemas = 0;

const hasServer = !lacks("postgres");

beforeAll(async () => {
  if (hasServer) server = await PostgresServer.start();
}, 60_000);

afterAll(async () => {
  if (hasServer) await server.stop();
});

function newSchema(): string {
  schemas += 1;
  return `case_${schemas}`;
}

/** A schema of its own. */
function medium() {
  const schema = newSchema();
  const remove = async () => {
    await server.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
  };
  return Promise.resolve({ connect: () => postgresStore({ url: server.url(schema) }), remove });
}

function storeOf(schema: string, options: Partial<PostgresStoreOptions> = {}): Store {
  const store = postgresStore({ url: server.url(schema), ...options });
  onTestFinished(() => store.close());
  return store;
}

async function proxied(schema: string, options: Partial<PostgresStoreOptions> = {}) {
  const proxy = await PostgresProxy.start(server.port);
  onTestFinished(() => proxy.close());
  const store = storeOf(schema, { ...options, url: server.url(schema, { port: proxy.port }) });
  return { proxy, store };
}

describe.skipIf(!hasServer)("a postgres store", () => {
  const cases = storeConformance({ medium, isDurable: true, isShared: true });
  test.each(cases)("%s", (_title, run) => run());

  test("says where it is, and not who logs in", () => {
    const { description } = storeOf("some_schema");
    const place = `127.0.0.1:${server.port}/rollcall, schema some_schema`;
    expect(description).toBe(`postgres at ${place}`);
  });
});

describe.skipIf(!hasServer)("when answers get lost, a postgres store", () => {
  test("repeats an append under its id and answers, having written it once", async () => {
    const { proxy, store } = await proxied(newSchema());
    const { log, streams } = store;
    await log.open();
    const batch = { entries: ["one"], streams: [{ stream: "job", entries: ["said"] }] };
    proxy.loseAnswerTo(".append(");
    const position = await put(log, batch, 0);
    expect(position).toEqual({ head: 1, mark: 1 });
    proxy.loseAnswerTo(".append(");
    const sign = await log.append({ entries: [] }, position, { id: newAppendId() });
    expect(sign).toEqual({ head: 1, mark: 2 });
    expect(await entriesAfter(log, 0)).toEqual(["one"]);
    expect(await streams.range("job")).toEqual({ oldest: 1, head: 1 });
  });

  test("does not write to streams twice: what is not known is told so", async () => {
    const { proxy, store } = await proxied(newSchema());
    await store.log.open();
    proxy.loseAnswerTo(".append_streams(");
    const lost = store.streams.append("job", ["once"]);
    await expect(lost).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    expect(await store.streams.range("job")).toEqual({ oldest: 1, head: 1 });
  });

  test("says in time that the outcome is unknown, and answers to the same id later", async () => {
    const schema = newSchema();
    const { proxy, store } = await proxied(schema);
    const { log } = store;
    const at = await log.open();
    const id = newAppendId();
    proxy.goSilent();
    const attempt = log.append({ entries: ["one"] }, at, { id, withinMs: 300 });
    await expect(attempt).rejects.toMatchObject({ code: "OUTCOME_UNKNOWN" });
    proxy.fate = () => "pass";
    const other = storeOf(schema);
    await vi.waitFor(async () => expect((await other.log.open()).head).toBe(1));
    expect(await log.append({ entries: ["one"] }, at, { id })).toEqual({ head: 1, mark: 1 });
    expect(await entriesAfter(log, 0)).toEqual(["one"]);
  });

  test("fences one whose append was overtaken while its answer was lost", async () => {
    const schema = newSchema();
    const { proxy, store } = await proxied(schema);
    const other = storeOf(schema);
    const at = await store.log.open();
    await other.log.open();
    proxy.isDeaf = true;
    const late = store.log.append({ entries: ["late"] }, at, { id: newAppendId() });
    const outcome = late.catch(codeOf);
    await put(other.log, { entries: ["quick"] }, 0);
    proxy.isDeaf = false;
    expect(await outcome).toBe("FENCED");
    expect(await entriesAfter(other.log, 0)).toEqual(["quick"]);
  });

  test("notices that no notification comes through, and followers look more often", async () => {
    const warnings: string[] = [];
    const schema = newSchema();
    const { proxy, store } = await proxied(schema, { onWarning: (each) => warnings.push(each) });
    proxy.fate = (type) => (type === NOTIFICATION ? "drop" : "pass");
    await store.log.open();
    const follower = new Follower(store.log, 0);
    const waiting = follower.next();
    const writer = storeOf(schema);
    await writer.log.open();
    await put(writer.log, { entries: ["seen"] }, 0);
    expect(await waiting).toEqual(["seen"]);
    const never = follower.next();
    await vi.waitFor(() => expect(warnings).toHaveLength(1), 5000);
    expect(warnings[0]).toContain("no notifications come through");
    follower.stop();
    await never;
  });
});

describe.skipIf(!hasServer)("what an operator does, a postgres store", () => {
  test("refuses the schema of another program, naming its tables", async () => {
    const schema = newSchema();
    await server.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.accounts (id int)`);
    const open = storeOf(schema).log.open();
    await expect(open).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
    await expect(open).rejects.toThrow("tables of another program (accounts)");
    await expect(open).rejects.toThrow("?schema=NAME");
  });

  test("uses an empty schema that was made for it", async () => {
    const schema = newSchema();
    await server.query(`CREATE SCHEMA ${schema}`);
    expect(await storeOf(schema).log.open()).toMatchObject({ head: 0, oldest: 1 });
  });

  test("refuses a schema of a newer version, naming the program that wrote it", async () => {
    const schema = newSchema();
    const store = storeOf(schema, { writtenBy: "rollcall 9.1" });
    await store.log.open();
    await server.query(`UPDATE ${schema}.head SET schema_version = 2`);
    const open = storeOf(schema, { writtenBy: "rollcall 9.0" }).log.open();
    await expect(open).rejects.toMatchObject({ code: "STORAGE_TOO_NEW" });
    await expect(open).rejects.toThrow("was written by rollcall 9.1 with schema 2");
  });

  test("does not begin anew when its tables are dropped under it", async () => {
    const schema = newSchema();
    const { log } = storeOf(schema);
    await log.open();
    await put(log, { entries: ["one"] }, 0);
    await server.query(`DROP SCHEMA ${schema} CASCADE`);
    const append = log.append({ entries: ["two"] }, { head: 1, mark: 1 }, { id: newAppendId() });
    await expect(append).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
    await expect(append).rejects.toThrow("has lost tables of rollcall");
    await expect(log.open()).rejects.toThrow("its tables were dropped");
    await expect(collect(log.read(0))).rejects.toMatchObject({ code: "STORAGE_CORRUPT" });
  });

  test("tells a log that was made anew from the one that it had open", async () => {
    const schema = newSchema();
    const { log } = storeOf(schema);
    const { logId } = await log.open();
    await put(log, { entries: ["one"] }, 0);
    await server.query(`DROP SCHEMA ${schema} CASCADE`);
    const { log: anew } = storeOf(schema);
    expect((await anew.open()).logId).not.toBe(logId);
    await put(anew, { entries: ["another one"] }, 0);
    const append = log.append({ entries: ["two"] }, { head: 1, mark: 1 }, { id: newAppendId() });
    await expect(append).rejects.toMatchObject({ code: "DIVERGED" });
    await expect(collect(log.read(1))).rejects.toMatchObject({ code: "DIVERGED" });
    await expect(new Follower(log, 1).next()).rejects.toMatchObject({ code: "DIVERGED" });
  });

  test("finds rows that were changed, moved or deleted", async () => {
    const damages = [
      "UPDATE log SET body = 'entrY 3' WHERE last = 3",
      "DELETE FROM log WHERE last = 3",
      "UPDATE log SET id = 'other' WHERE last = 3",
      "UPDATE journal SET body = 'entrY 3' WHERE last = 3",
      "DELETE FROM journal WHERE last = 3",
      "UPDATE chunk SET sizes = '{1,2}'",
    ];
    for (const damage of damages) {
      const schema = newSchema();
      const { log, streams } = storeOf(schema);
      await log.open();
      for (let head = 0; head < 4; head += 1) {
        const entries = numbered(head + 1, 1);
        await put(log, { entries, streams: [{ stream: "job", entries }] }, head);
      }
      await log.saveSnapshot({ sequence: 4, chunks: ["st", "ate"] });
      await server.query(`SET search_path TO ${schema}; ${damage}`);
      const readAll = async () => {
        await collect(log.read(0));
        await collect(streams.read("job", 0));
        await collect((await log.loadSnapshot(4))?.chunks ?? []);
      };
      const found = { damage, code: await readAll().catch(codeOf) };
      expect(found).toEqual({ damage, code: "STORAGE_CORRUPT" });
    }
  });

  test("says what to do where there is no such database", async () => {
    const wrong = server.url("x").replace("/rollcall?", "/nowhere?");
    const noDatabase = postgresStore({ url: wrong }).log.open();
    await expect(noDatabase).rejects.toThrow("has no such database: create it first");
  });

  test("says how to let in a user that may not create a schema", async () => {
    await server.query("CREATE ROLE guest LOGIN");
    const schema = newSchema();
    const url = server.url(schema, { user: "guest" });
    const open = storeOf(schema, { url }).log.open();
    await expect(open).rejects.toMatchObject({ code: "STORAGE_READ_ONLY" });
    await expect(open).rejects.toThrow("CREATE SCHEMA NAME AUTHORIZATION USER");
    await server.query(`CREATE SCHEMA ${schema} AUTHORIZATION guest`);
    expect(await storeOf(schema, { url }).log.open()).toMatchObject({ head: 0 });
  });

  test("deletes what was truncated, trimmed and removed", async () => {
    const schema = newSchema();
    const { log, streams } = storeOf(schema);
    await log.open();
    for (let head = 0; head < 6; head += 2) {
      const entries = numbered(head + 1, 2);
      const toStreams = ["trimmed", "removed"].map((stream) => ({ stream, entries }));
      await put(log, { entries, streams: toStreams }, head);
    }
    await log.saveSnapshot({ sequence: 3, chunks: ["three"] });
    await log.saveSnapshot({ sequence: 6, chunks: ["six"] });
    await log.truncate(5);
    await streams.trim("trimmed", 4);
    await streams.remove("removed");
    const rows = `
      SELECT (SELECT count(*)::int FROM log) AS log, (SELECT count(*)::int FROM journal) AS journal,
        (SELECT count(*)::int FROM chunk) AS chunk, (SELECT count(*)::int FROM garbage) AS garbage`;
    const left = { log: 1, journal: 1, chunk: 1, garbage: 0 };
    const found = async () => server.query(`SET search_path TO ${schema}; ${rows}`);
    await vi.waitFor(async () => expect((await found()).at(-1)).toEqual(left), 5000);
    expect(await entriesAfter(log, 5)).toEqual(["entry 6"]);
  });
});
