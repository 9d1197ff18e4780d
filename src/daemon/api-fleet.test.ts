import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Facts } from "../core/reports.ts";
import { capture } from "../core/snapshot.ts";
import { CARD } from "../../test/support/engine/fixture.ts";
import type { Row } from "../fleet/row.ts";
import { openApi, type Api, type Reply } from "../../test/support/daemon/api.ts";
import { LIBRARY } from "../core/by.ts";

let api: Api;

beforeEach(async () => {
  api = await openApi();
});

afterEach(async () => {
  await api.close();
});

const ALIVE = { liveness: { value: "alive", rule: "fresh" } } as const;
const WORKING: Facts = { ...ALIVE, activity: { value: "working", rule: "task" } };
const IDLE: Facts = { ...ALIVE, activity: { value: "idle", rule: "no task" } };
const GONE: Facts = { liveness: { value: "exited", rule: "it left" } };

function asking(text: string, sinceMs: number): Facts {
  return { ...WORKING, question: { value: { kind: "permission", text, sinceMs }, rule: "asks" } };
}

async function say(name: string, facts: Facts, more: object = {}): Promise<Reply> {
  const alias = `script@box:${name}`;
  return api.post("/v1/fleet/reports", { alias, agentId: name, facts, ...more });
}

function idsOf({ body }: Reply): readonly string[] {
  return (body["rows"] as readonly Row[]).map(({ id }) => id);
}

function message({ body }: Reply): string {
  return (body["error"] as { readonly message: string }).message;
}

describe("the fleet", () => {
  test("is told with what needs a person first, how many there are of each, and when", async () => {
    await say("idle", IDLE);
    await say("busy", { ...WORKING, workspace: "/src/shop" });
    await say("asks", asking("may I?", 5));
    const { agentId } = await api.engine.execute(
      {
        type: "agent.register",
        card: CARD,
        ttlMs: 60_000,
      },
      LIBRARY,
    );
    const reply = await api.get("/v1/fleet");
    expect(reply.status).toBe(200);
    expect(idsOf(reply).slice(0, 2)).toEqual(["asks", "busy"]);
    expect(idsOf(reply)).toContain(agentId);
    expect(reply.body).toMatchObject({
      sequence: api.engine.head,
      atMs: api.engine.nowMs,
      total: 4,
      counts: { "NEEDS YOU": 1, PROBLEM: 0, WORKING: 1, IDLE: 2, GONE: 0 },
    });
    expect((reply.body["rows"] as readonly Row[])[0]).toMatchObject({
      name: "asks",
      why: "may I?",
      blockedOn: {
        value: { kind: "permission", text: "may I?", sinceMs: 5 },
        evidence: { wire: "script", alias: "script@box:asks", rule: "asks" },
      },
    });
  });

  test("comes in pages that keep its order", async () => {
    for (let i = 0; i < 25; i += 1) await say(`a${i}`, i % 2 === 0 ? IDLE : WORKING);
    const whole = idsOf(await api.get("/v1/fleet"));
    const paged: string[] = [];
    let cursor = "";
    do {
      const page = await api.get(`/v1/fleet?limit=4${cursor}`);
      paged.push(...idsOf(page));
      const next = page.body["cursor"] as string | undefined;
      cursor = next === undefined ? "" : `&cursor=${next}`;
    } while (cursor !== "");
    expect(paged).toEqual(whole);
    expect(new Set(paged).size).toBe(25);
  });

  test.each([
    ["headline=WORKING", ["busy"]],
    ["headline=WORKING&headline=NEEDS+YOU", ["asks", "busy"]],
    ["needs=me", ["asks"]],
    ["host=box2", ["far"]],
    ["workspacePrefix=/src/sh", ["busy"]],
  ])("with %s is only those", async (query, expected) => {
    await say("busy", { ...WORKING, workspace: "/src/shop" });
    await say("asks", asking("?", 1));
    await say("far", IDLE, { alias: "script@box2:far" });
    expect(idsOf(await api.get(`/v1/fleet?${query}`))).toEqual(expected);
  });

  test("hides who is gone for more than an hour, unless all are asked for", async () => {
    await say("left", GONE);
    expect(idsOf(await api.get("/v1/fleet"))).toEqual(["left"]);
    await api.clock.advance(3_601_000);
    const reply = await api.get("/v1/fleet");
    expect(idsOf(reply)).toEqual([]);
    expect(reply.body).toMatchObject({ total: 0, counts: { GONE: 1 } });
    expect(idsOf(await api.get("/v1/fleet?all=true"))).toEqual(["left"]);
  });

  test("folds away who fell silent at nothing a day ago, unless all are asked for", async () => {
    await say("quiet", { ...IDLE, liveness: { value: "stale", rule: "its file is old" } });
    await api.clock.advance(24 * 3_600_000);
    expect(idsOf(await api.get("/v1/fleet"))).toEqual(["quiet"]);
    await api.clock.advance(1_000);
    const reply = await api.get("/v1/fleet");
    expect(reply.body).toMatchObject({ total: 0, counts: { IDLE: 0, GONE: 0 } });
    expect(idsOf(await api.get("/v1/fleet?all=true"))).toEqual(["quiet"]);
  });

  test("of a past moment is the one of then, by milliseconds and by ISO time", async () => {
    await say("claude", asking("then?", 1));
    const thenMs = api.engine.nowMs;
    await api.clock.advance(60_000);
    await say("claude", IDLE);
    for (const at of [String(thenMs), new Date(thenMs).toISOString()]) {
      expect((await api.get(`/v1/fleet?at=${at}`)).body).toMatchObject({
        atMs: thenMs,
        rows: [{ id: "claude", headline: "NEEDS YOU" }],
      });
      expect((await api.get(`/v1/fleet/claude?at=${at}`)).body).toMatchObject({
        row: { headline: "NEEDS YOU" },
      });
      expect((await api.get(`/v1/questions?state=open&at=${at}`)).body).toMatchObject({
        questions: [{ text: "then?", state: "open" }],
      });
    }
    expect((await api.get("/v1/fleet")).body).toMatchObject({ rows: [{ headline: "IDLE" }] });
  });

  test("of a moment that the log has lost is refused, and of one to come as well", async () => {
    await say("a", IDLE);
    const { engine, log } = api;
    await api.clock.advance(1_000);
    await say("b", IDLE);
    await log.saveSnapshot({ sequence: engine.head, chunks: engine.peek(capture) });
    await log.truncate(engine.head - 1);
    const lost = await api.get(`/v1/fleet?at=${engine.nowMs - 5_000}`);
    expect(lost).toMatchObject({ status: 410, body: { error: { code: "OUT_OF_RANGE" } } });
    expect(message(lost)).toBe("the log begins after that moment");
    // A clock that runs ahead of ours means now.
    const now = await api.get(`/v1/fleet?at=${engine.nowMs + 1_000}`);
    expect(now.body).toMatchObject({ total: 2, atMs: engine.nowMs });
    const ahead = await api.get(`/v1/fleet?at=${engine.nowMs + 61_000}`);
    expect(ahead.status).toBe(400);
    expect(message(ahead)).toBe("at is in the future");
  });
});

describe("one agent", () => {
  test("is found by id, by alias, by name and by a part of one", async () => {
    await say("claude-7d5d6ca5", { ...WORKING, name: "claude" });
    await say("codex-1", { ...IDLE, name: "codex" });
    for (const given of ["claude-7d5d6ca5", "script@box:claude-7d5d6ca5", "claude", "cla"]) {
      expect((await api.get(`/v1/fleet/${given}`)).body).toMatchObject({
        row: { id: "claude-7d5d6ca5" },
      });
    }
    await say("codex-2", { ...IDLE, name: "coder" });
    const both = await api.get("/v1/fleet/cod");
    expect(both.status).toBe(400);
    expect(message(both)).toBe(
      "2 agents may be meant by cod: codex-1 (codex), codex-2 (coder); give an id",
    );
    const none = await api.get("/v1/fleet/x");
    expect(none.status).toBe(404);
    expect(message(none)).toBe("no agent x in the fleet");
  });

  test("may have any text for its id", async () => {
    await say("a/b ?#%2F日本", IDLE);
    const path = `/v1/fleet/${encodeURIComponent("a/b ?#%2F日本")}`;
    expect((await api.get(path)).body).toMatchObject({ row: { id: "a/b ?#%2F日本" } });
    expect((await api.get(`${path}/timeline`)).body).toMatchObject({ id: "a/b ?#%2F日本" });
  });

  test("has a timeline: what happened to it, as the event stream tells it", async () => {
    await say("a", WORKING);
    await say("b", WORKING);
    await api.clock.advance(10);
    await say("a", asking("?", 1));
    const { body } = await api.get("/v1/fleet/a/timeline");
    const events = body["events"] as readonly Record<string, unknown>[];
    expect(events.map(({ topic }) => topic)).toEqual([
      "fleet.reported",
      "fleet.reported",
      "question.asked",
    ]);
    expect(events[0]).toMatchObject({ sequence: 2, at: "2023-11-14T22:13:20.000Z" });
    const last = await api.get("/v1/fleet/a/timeline?limit=1");
    expect(last.body["events"]).toEqual(events.slice(-1));
  });
});

describe("questions", () => {
  test("are told oldest first, by what became of them", async () => {
    await say("a", { ...asking("new", 9), name: "claude", workspace: "/w" });
    await say("b", asking("old", 3));
    await say("c", asking("done", 1));
    await api.clock.advance(1);
    await say("c", WORKING);
    const texts = async (query: string) => {
      const { body } = await api.get(`/v1/questions${query}`);
      return (body["questions"] as readonly { text: string }[]).map(({ text }) => text);
    };
    expect(await texts("")).toEqual(["done", "old", "new"]);
    expect(await texts("?state=open")).toEqual(["old", "new"]);
    expect(await texts("?state=answered&state=expired")).toEqual(["done"]);
    expect((await api.get("/v1/questions?state=open&limit=1")).body).toMatchObject({ total: 2 });
    const { body } = await api.get("/v1/questions?state=open");
    expect((body["questions"] as readonly unknown[])[1]).toMatchObject({
      agentId: "a",
      name: "claude",
      workspace: "/w",
      state: "open",
      endedAtMs: 0,
    });
  });
});

describe("what an operator dismisses", () => {
  test("is a question, by its id or its agent, and the row says so", async () => {
    await say("a", { ...asking("may I?", 9), name: "claude" });
    await say("b", asking("and I?", 9));
    const { body: open } = await api.get("/v1/questions?state=open");
    const [first] = open["questions"] as readonly { id: string }[];
    const byId = await api.post("/v1/questions/dismiss", { id: first?.id });
    expect(byId.body).toEqual({ ids: [first?.id] });
    expect((await api.post("/v1/questions/dismiss", { id: "b" })).body["ids"]).toHaveLength(1);
    expect((await api.post("/v1/questions/dismiss", { id: "claude" })).body).toEqual({ ids: [] });
    expect((await api.get("/v1/fleet")).body).toMatchObject({
      counts: { "NEEDS YOU": 0, IDLE: 2 },
    });
    const { body } = await api.get("/v1/questions?state=dismissed");
    expect(body).toMatchObject({ total: 2 });
    expect((await api.post("/v1/questions/dismiss", { id: "nobody" })).status).toBe(404);
  });

  test("is all that was reported on an agent: its row goes, until it reports again", async () => {
    await say("a", asking("paste your key", 9));
    await say("a", IDLE, { alias: "acp:a" });
    const gone = await api.post("/v1/fleet/dismiss", { id: "a" });
    expect(gone.body).toEqual({ aliases: ["acp:a", "script@box:a"] });
    expect((await api.get("/v1/fleet?all=true")).body).toMatchObject({ total: 0 });
    await say("a", WORKING);
    expect((await api.get("/v1/fleet/a")).body).toMatchObject({ row: { headline: "WORKING" } });
  });
});

describe("a report", () => {
  test("is taken once, and a late one changes nothing", async () => {
    expect((await say("a", WORKING, { order: 5 })).body).toEqual({ isNew: true });
    expect((await say("a", WORKING, { order: 6 })).body).toEqual({ isNew: false });
    expect((await say("a", IDLE, { order: 4 })).body).toEqual({ isNew: false });
    expect((await api.get("/v1/fleet/a")).body).toMatchObject({ row: { headline: "WORKING" } });
  });

  const live = { value: "alive" };
  test.each([
    ["alias is not set", {}],
    ["alias is not WIRE:NAME", { alias: "a" }],
    ["agentId is not set", { alias: "s:a", agentId: undefined }],
    ["agentId is empty", { alias: "s:a", agentId: "" }],
    ["facts is not set", { alias: "s:a", facts: undefined }],
    ["facts.liveness is not set", { alias: "s:a", facts: {} }],
    [
      'facts.liveness.value is "well"; it may be starting, alive',
      { alias: "s:a", facts: { liveness: { value: "well" } } },
    ],
    [
      "facts.question.value.sinceMs is not set",
      {
        alias: "s:a",
        facts: { liveness: live, question: { value: { kind: "text", text: "" } } },
      },
    ],
    ["facts.mood is unknown", { alias: "s:a", facts: { liveness: live, mood: 1 } }],
    ["order is not a whole number from 0 up", { alias: "s:a", order: -1 }],
    ["links has 9 entries", { alias: "s:a", links: Array.from({ length: 9 }, () => "x:y") }],
    ["name holds a control", { alias: "s:a", facts: { liveness: live, name: "\u001b[31m" } }],
  ])("is refused when %s", async (why, body) => {
    const given = { agentId: "a", facts: { liveness: live }, ...body };
    const reply = await api.post("/v1/fleet/reports", given);
    expect(reply.status).toBe(400);
    expect(message(reply)).toContain(why);
    expect((await api.get("/v1/fleet?all=true")).body).toMatchObject({ total: 0 });
  });
});

describe("what makes no sense is refused by name", () => {
  test.each([
    ["/v1/fleet?headline=BUSY", 'headline[0] is "BUSY"; it may be NEEDS YOU, PROBLEM'],
    ["/v1/fleet?needs=you", 'needs is "you"; it may be me'],
    ["/v1/fleet?all=yes", 'all is "yes"; it may be true, false'],
    ["/v1/fleet?limit=0", "limit is 0, at least 1"],
    ["/v1/fleet?workspace=/x", "workspace is unknown; there are headline, host"],
    ["/v1/fleet?cursor=zzz", 'cursor is "zzz": it is from no earlier page'],
    ["/v1/fleet?at=noon", 'at is "noon", neither milliseconds nor a time like'],
    ["/v1/fleet?at=2026-06-20T16:04:05", "neither milliseconds nor a time like"],
    ["/v1/fleet/a?x=1", "x is unknown; there are at"],
    ["/v1/fleet/a/timeline?limit=1001", "limit is 1001, at most 1000"],
    ["/v1/fleet/a/timeline?from=1", "from is unknown; there are limit"],
    ["/v1/questions?state=shut", 'state[0] is "shut"; it may be open, answered'],
  ])("%s", async (path, why) => {
    const reply = await api.get(path);
    expect(reply.status).toBe(400);
    expect(message(reply)).toContain(why);
  });
});
