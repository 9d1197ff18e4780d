import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Facts } from "../core/reports.ts";
import { HOUR } from "../core/units.ts";
import { EVENT_STREAM, FLEET_LIST } from "../wires/api/limits.ts";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { ask } from "../../test/support/daemon/fixture.ts";
import { listen, type Listener } from "../../test/support/daemon/stream.ts";
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

function asking(text: string): Facts {
  const value = { kind: "permission", text, sinceMs: api.engine.nowMs } as const;
  return { ...WORKING, question: { value, rule: "asks" } };
}

let order = 0;

async function say(id: string, facts: Facts): Promise<void> {
  order += 1;
  const alias = `script@box:${id}`;
  const reportedAtMs = api.engine.nowMs;
  await api.fleet.report({ alias, agentId: id, links: [], order, reportedAtMs, facts }, LIBRARY);
}

function open(path: string, headers = {}): Promise<Listener> {
  return listen(api.opened.port, path, headers);
}

/** Time goes by until it has heard so much. */
async function hears(listener: Listener, count: number): Promise<void> {
  await vi.waitFor(async () => {
    await api.clock.advance(100);
    expect(listener.messages.length).toBeGreaterThanOrEqual(count);
  });
}

function told(listener: Listener): readonly unknown[] {
  return listener.messages.map(({ event, data }) => {
    const rows = (data["rows"] ?? []) as readonly { id: string; headline: string }[];
    return [event, rows.map(({ id, headline }) => `${id} ${headline}`), data["gone"] ?? []];
  });
}

describe("the fleet, live", () => {
  test("begins with the whole, then tells what changes and who goes", async () => {
    await say("a", WORKING);
    const listener = await open("/v1/fleet");
    expect(listener.response.headers["content-type"]).toBe("text/event-stream; charset=utf-8");
    await hears(listener, 1);
    await say("b", IDLE);
    await hears(listener, 2);
    await say("a", asking("may I?"));
    await hears(listener, 3);
    expect(told(listener)).toEqual([
      ["fleet", ["a WORKING"], []],
      ["change", ["b IDLE"], []],
      ["change", ["a NEEDS YOU"], []],
    ]);
    const { id, data } = listener.messages[2] ?? {};
    expect(id).toBe(String(api.engine.head));
    expect(data).toMatchObject({
      sequence: api.engine.head,
      counts: { "NEEDS YOU": 1, PROBLEM: 0, WORKING: 0, IDLE: 1, GONE: 0 },
    });
  });

  test("that is filtered tells who no longer fits, and counts all the same", async () => {
    await say("a", asking("?"));
    await say("b", IDLE);
    const listener = await open("/v1/fleet?needs=me");
    await hears(listener, 1);
    await say("b", WORKING);
    await say("a", WORKING);
    await hears(listener, 2);
    expect(told(listener)).toEqual([
      ["fleet", ["a NEEDS YOU"], []],
      ["change", [], ["a"]],
    ]);
    expect(listener.messages[1]?.data).toMatchObject({ counts: { WORKING: 2 } });
  });

  test("lets go of those that are gone for an hour, though nothing happens", async () => {
    await say("a", GONE);
    const listener = await open("/v1/fleet");
    await hears(listener, 1);
    await api.clock.advance(HOUR + 120_000);
    await hears(listener, 2);
    expect(told(listener)).toEqual([
      ["fleet", ["a GONE"], []],
      ["change", [], ["a"]],
    ]);
  });

  test("tells a subscriber that comes back what changed since, and nothing else", async () => {
    await say("a", WORKING);
    await say("b", WORKING);
    await say("c", GONE);
    const first = await open("/v1/fleet");
    await hears(first, 1);
    first.response.destroy();
    await say("a", IDLE);
    await api.fleet.dismiss(["script@box:c"], LIBRARY);
    const again = await open("/v1/fleet", { "last-event-id": first.messages[0]?.id });
    await hears(again, 1);
    expect(told(again)).toEqual([["change", ["a IDLE"], ["c"]]]);
  });

  test("begins with the whole for one that comes back from before the daemon's time", async () => {
    await say("a", WORKING);
    const listener = await open("/v1/fleet", { "last-event-id": "0" });
    await hears(listener, 1);
    expect(told(listener)).toEqual([["fleet", ["a WORKING"], []]]);
  });

  test("of a large fleet begins in several parts", async () => {
    for (let i = 0; i < FLEET_LIST.frameRows + 1; i += 1) await say(`a${i}`, IDLE);
    const listener = await open("/v1/fleet");
    await hears(listener, 2);
    expect(told(listener).map((each) => (each as unknown[])[0])).toEqual(["fleet", "change"]);
    const ids = listener.messages.flatMap(({ data }) => data["rows"] as readonly { id: string }[]);
    expect(new Set(ids.map(({ id }) => id)).size).toBe(FLEET_LIST.frameRows + 1);
  });
});

describe("one agent, live", () => {
  test("is told whenever it is another one; others are not", async () => {
    await say("claude-1", WORKING);
    const listener = await open("/v1/fleet/claude");
    await hears(listener, 1);
    await say("b", IDLE);
    await say("claude-1", IDLE);
    await hears(listener, 2);
    expect(listener.messages.map(({ event, data }) => [event, data["row"]])).toMatchObject([
      ["row", { id: "claude-1", headline: "WORKING" }],
      ["row", { id: "claude-1", headline: "IDLE" }],
    ]);
  });

  test("that nobody knows is refused before anything is sent", async () => {
    const listener = await open("/v1/fleet/nobody");
    expect(listener.response.statusCode).toBe(404);
    await vi.waitFor(() => expect(listener.text).toContain("no agent nobody in the fleet"));
    expect(api.openStreams).toBe(0);
  });
});

describe("a timeline, live", () => {
  test("is what happened, then what happens, and goes on where a client stood", async () => {
    await say("a", WORKING);
    await say("b", WORKING);
    await say("a", asking("?"));
    const listener = await open("/v1/fleet/a/timeline");
    await hears(listener, 4);
    await say("b", IDLE);
    await say("a", WORKING);
    await hears(listener, 6);
    const topics = ({ messages }: Listener) => messages.map(({ event }) => event);
    expect(topics(listener)).toEqual([
      "fleet.reported",
      "fleet.reported",
      "question.asked",
      "bookmark",
      "fleet.reported",
      "question.answered",
    ]);
    const stood = { "last-event-id": listener.messages[2]?.id };
    const again = await open("/v1/fleet/a/timeline?from=0", stood);
    await hears(again, 2);
    expect(again.messages.slice(0, 2)).toEqual(listener.messages.slice(4));
  });

  test("tells now and then where it stands, though all that happens is others' doing", async () => {
    await say("a", WORKING);
    const listener = await open("/v1/fleet/a/timeline");
    await hears(listener, 2);
    for (let i = 0; i < FLEET_LIST.bookmarkEvents; i += 1) {
      await say("b", i % 2 === 0 ? IDLE : WORKING);
    }
    await hears(listener, 3);
    expect(listener.messages[2]).toMatchObject({ event: "bookmark", id: String(api.engine.head) });
  });
});

test("questions, live: all of them, then each that is asked or ends", async () => {
  await say("a", asking("one"));
  const listener = await open("/v1/questions?state=open");
  await hears(listener, 1);
  await say("b", asking("two"));
  await hears(listener, 2);
  await say("a", WORKING);
  await hears(listener, 3);
  const anOpen = (text: string) => ({ text, state: "open" });
  const [first] = listener.messages;
  const all = first?.data["questions"] as readonly { id: string }[] | undefined;
  expect(listener.messages.map(({ event, data }) => ({ event, ...data }))).toMatchObject([
    { event: "questions", questions: [anOpen("one")] },
    { event: "change", questions: [anOpen("two")], gone: [] },
    { event: "change", questions: [], gone: [all?.[0]?.id] },
  ]);
});

describe("a client of any of them", () => {
  const paths = ["/v1/fleet", "/v1/fleet/a", "/v1/fleet/a/timeline", "/v1/questions"];

  test.each(paths)("hears that %s lives while nothing happens, and why it ends", async (path) => {
    await say("a", WORKING);
    const listener = await open(path);
    await hears(listener, 1);
    await api.clock.advance(3 * EVENT_STREAM.heartbeatMs);
    await vi.waitFor(() => expect(listener.text.match(/^:$/gm)?.length).toBeGreaterThanOrEqual(2));
    api.fleet.close();
    await api.engine.close();
    await vi.waitFor(() => expect(listener.isEnded).toBe(true));
    expect(listener.messages.at(-1)).toMatchObject({
      event: "error",
      data: { error: { code: "UNAVAILABLE" } },
    });
  });

  test.each(paths)("that leaves %s leaves nothing behind", async (path) => {
    await say("a", WORKING);
    const timers = api.clock.timers;
    const listener = await open(path);
    await hears(listener, 1);
    expect(api.openStreams).toBe(1);
    listener.response.destroy();
    await vi.waitFor(() => expect(api.openStreams).toBe(0));
    expect(api.engine.watches.open).toBe(0);
    expect(api.clock.timers).toBe(timers);
  });

  test("that reads nothing holds no more than a place, and is cut after a while", async () => {
    const long = "x".repeat(1_000);
    for (let i = 0; i < 400; i += 1) await say(`a${i}`, { ...IDLE, goal: long });
    const listener = await open("/v1/fleet");
    listener.response.pause();
    for (let round = 0; round < 20; round += 1) {
      for (let i = 0; i < 400; i += 1) await say(`a${i}`, { ...IDLE, goal: `${round} ${long}` });
      await api.clock.advance(2_000);
    }
    await api.clock.advance(EVENT_STREAM.stallMs + EVENT_STREAM.farewellMs);
    await vi.waitFor(() => expect(api.openStreams).toBe(0));
    await api.clock.advance(EVENT_STREAM.farewellMs);
    listener.response.resume();
    await vi.waitFor(() => expect(listener.response.destroyed).toBe(true));
    // A few of the twenty rounds: what it missed was never made.
    expect(listener.text.length).toBeLessThan(20 * 400 * 1_000);
  }, 30_000);

  test("that only wants the head of an answer gets no stream", async () => {
    const headers = { accept: "text/event-stream" };
    const { status, body } = await ask(api.opened.port, "/v1/fleet", { method: "HEAD", headers });
    expect([status, body]).toEqual([200, ""]);
    expect(api.openStreams).toBe(0);
  });

  test.each([
    ["/v1/fleet", "/v1/fleet/a", 2],
    ["/v1/questions", "/v1/fleet/a/timeline", 3],
  ])("is refused one stream of %s or %s more than allowed", async (path, other, most) => {
    await say("a", WORKING);
    for (let i = 0; i < most; i += 1) await hears(await open(path), 1);
    for (const each of [path, other]) {
      const refused = await open(each);
      expect(refused.response.statusCode).toBe(429);
      await vi.waitFor(() => expect(refused.text).toContain(`already has ${most} streams`));
    }
  });

  test.each([
    ["/v1/fleet?limit=5", "limit is unknown; there are headline, host"],
    ["/v1/fleet?at=5", "at is unknown; there are headline, host"],
    ["/v1/fleet/a?at=5", "at is unknown"],
    ["/v1/fleet/a/timeline?from=x", 'from is \\"x\\", not a sequence'],
    ["/v1/questions?cursor=x", "cursor is unknown; there are state"],
  ])("is refused what makes no sense live: %s", async (path, why) => {
    const refused = await open(path);
    expect(refused.response.statusCode).toBe(400);
    await vi.waitFor(() => expect(refused.text).toContain(why));
  });
});
