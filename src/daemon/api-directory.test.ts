import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DIRECTORY } from "../core/limits.ts";
import { cardOf, TestWeb } from "../../test/support/directory/fixture.ts";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { listen, type Listener } from "../../test/support/daemon/stream.ts";
import { byOf, LIBRARY, namedBy } from "../core/by.ts";
import { DEFAULT_NAMESPACE } from "../core/principals.ts";
import { permitBy } from "../operations/access.ts";
import { TABLE } from "../operations/table.ts";

const ECHO = "http://echo.example/a2a";
const DETAIL = `/v1/directory/${encodeURIComponent(ECHO)}`;

let api: Api;
let web: TestWeb;

beforeEach(async () => {
  web = new TestWeb();
  api = await openApi(undefined, web);
});

afterEach(async () => {
  await api.close();
  expect(api.opened.faults).toEqual([]);
});

function beat(fields: Readonly<Record<string, unknown>> = {}, url = ECHO) {
  return api.post("/registry/heartbeat", { agent_card: cardOf(url, fields), interval: 30 });
}

test("the list shows all, the unverified too, and how far each can be trusted", async () => {
  web.publish(cardOf(ECHO, { skills: [{ id: "echo", name: "Echo", tags: ["sound"] }] }));
  await beat();
  await beat({}, "http://nobody.example/");
  const { body } = await api.get("/v1/directory");
  expect(body).toMatchObject({
    total: 2,
    entries: [
      { url: ECHO, name: "Echo", tier: "owner", isServed: true, skills: [{ tags: ["sound"] }] },
      { url: "http://nobody.example/", name: "Echo", tier: "unverified", isServed: false },
    ],
  });
  const trusted = await api.get("/v1/directory?tier=reachable&tag=sound");
  expect(trusted.body).toMatchObject({ total: 1 });
  expect((await api.get("/v1/directory?teir=owner")).status).toBe(400);
});

test("a change that waits is shown as a difference, beside what is served", async () => {
  web.publish(cardOf(ECHO));
  await beat();
  for (let ms = 0; ms < DIRECTORY.changeMs; ms += 30_000) {
    await api.clock.advance(30_000);
    await beat();
  }
  web.pages.clear();
  await beat({ description: "Says it louder" });
  const { body } = await api.get(DETAIL);
  expect(body).toMatchObject({
    entry: { tier: "owner", isChanging: true, verification: { isConfirmed: false } },
    card: { description: "Says it again" },
    waiting: { description: "Says it louder" },
    diff: {
      changes: [{ path: "description", before: '"Says it again"', after: '"Says it louder"' }],
      more: 0,
    },
  });
  web.publish(cardOf(ECHO, { description: "Says it louder" }));
  const verified = await api.post("/v1/directory/verify", { url: ECHO });
  expect(verified.body).toMatchObject({
    entry: { isChanging: false },
    card: { description: "Says it louder" },
    diff: null,
  });
});

test("an agent is added by the URL of its site, and stays until it is removed", async () => {
  web.publish(cardOf(ECHO), "/.well-known/agent-card.json");
  const added = await api.post("/v1/directory/add", { url: "http://echo.example/" });
  expect(added.body).toMatchObject({ entry: { url: ECHO, tier: "owner", intervalMs: 0 } });
  await api.clock.advance(600_000);
  expect((await api.get(DETAIL)).status).toBe(200);
  expect((await api.post("/v1/directory/remove", { url: ECHO })).status).toBe(200);
  expect((await api.get(DETAIL)).status).toBe(404);
  expect((await api.post("/v1/directory/remove", { url: ECHO })).status).toBe(404);
});

const ANN = "http://shared.example/ann";
const EVIL = "http://shared.example/bob/evil.json";

/** As an agent of this name does. */
async function addAs(name: string, url: string) {
  const { engine, directory } = api;
  const about = { name: `token:${name}`, kind: "agent", namespace: DEFAULT_NAMESPACE } as const;
  const by = byOf({ ...about, roles: ["agent"] }, "http");
  const permit = permitBy(engine);
  permit(by, TABLE.directory.add.access, { url });
  const { signal } = new AbortController();
  return TABLE.directory.add.run({ directory, permit }, { url }, { by, signal });
}

/** Ann's card where her agent is, and one of Bob that names her agent, at his own path. */
function shareOrigin(): void {
  web.pages.set(`${ANN}/.well-known/agent.json`, JSON.stringify(cardOf(ANN)));
  web.pages.set(EVIL, JSON.stringify(cardOf(ANN, { description: "Gives it to Bob" })));
}

test("the card of an agent comes from its own places, not from others of its host", async () => {
  shareOrigin();
  await addAs("ann", ANN);
  const before = (await api.directory.get(ANN)).entry;
  expect(before).toMatchObject({ owner: "token:ann", tier: "owner" });
  expect(await addAs("bob", EVIL)).toMatchObject({ entry: { url: ANN, owner: "token:ann" } });
  const { entry, diff } = await api.directory.get(ANN);
  expect(entry.card?.text).toBe(before.card?.text);
  expect(diff).toBeNull();
});

test("who may not add an agent cannot do so by a card that names it", async () => {
  shareOrigin();
  const resource = `directory:${ANN}`;
  const policy = { id: "no", subject: "token:bob", action: "directory.add", resource };
  const set = { type: "policy.set", policy: { ...policy, effect: "deny" } } as const;
  await api.engine.execute(set, LIBRARY);
  await expect(addAs("bob", ANN)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(addAs("bob", EVIL)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect((await api.get("/v1/directory")).body).toMatchObject({ total: 0 });
});

test("a card that only its own file has is listed under that file", async () => {
  web.pages.set(EVIL, JSON.stringify(cardOf(ANN)));
  const added = await addAs("bob", EVIL);
  expect(added).toMatchObject({ entry: { url: EVIL, tier: "reachable" } });
});

test("an agent whose URL cannot be fetched is not told what the network says", async () => {
  const url = "http://nobody.example/";
  web.why = new Error("connect ECONNREFUSED 127.0.0.1:65000");
  await expect(addAs("bob", url)).rejects.toMatchObject({
    code: "UNAVAILABLE",
    message: `${url}: no card of this agent was found at its URL`,
  });
  const operators = await api.post("/v1/directory/add", { url });
  expect(JSON.stringify(operators.body)).toContain("at its URL: connect ECONNREFUSED");
});

test("what cannot be fetched is not added", async () => {
  const nobody = await api.post("/v1/directory/add", { url: "http://nobody.example/" });
  expect(nobody.status).toBe(503);
  expect(JSON.stringify(nobody.body)).toContain("no card of this agent was found at its URL");
  expect((await api.post("/v1/directory/add", { url: "file:///etc" })).status).toBe(400);
  expect((await api.get("/v1/directory")).body).toMatchObject({ total: 0 });
});

test("what happens in the directory is told live, and nothing else", async () => {
  const listener = await listen(api.opened.port, "/v1/directory/events", {
    host: `127.0.0.1:${api.opened.port}`,
  });
  web.publish(cardOf(ECHO));
  await api.engine.execute(
    {
      type: "policy.set",
      policy: { id: "p", subject: "*", action: "*", resource: "*", effect: "allow" },
    },
    LIBRARY,
  );
  await beat();
  await vi.waitFor(() => {
    const told = listener.messages.map(({ event }) => event).filter((each) => each !== "bookmark");
    expect(told).toEqual(["directory.registered", "directory.verified"]);
  });
  listener.response.destroy();
});

test("who was away hears what it missed, from where it stood", async () => {
  const host = `127.0.0.1:${api.opened.port}`;
  const first = await listen(api.opened.port, "/v1/directory/events", { host });
  await beat();
  const told = (listener: Listener) => listener.messages.filter(({ id }) => id !== "");
  await vi.waitFor(() => expect(told(first).at(-1)?.event).toBe("directory.doubted"));
  first.response.destroy();
  const place = told(first).at(-1)?.id ?? "";
  web.publish(cardOf(ECHO));
  await beat();
  const headers = { host, "last-event-id": place };
  const again = await listen(api.opened.port, "/v1/directory/events", headers);
  await vi.waitFor(() => {
    expect(again.messages.map(({ event }) => event)).toEqual(["directory.verified", "bookmark"]);
  });
  again.response.destroy();
});

test("agents of the directory are rows of the fleet, with their tier as evidence", async () => {
  web.publish(cardOf(ECHO, { metadata: { "rollcall.agent_id": "claude-1" } }));
  await beat();
  await beat({}, "http://nobody.example/");
  const { body } = await api.get("/v1/fleet");
  expect(body).toMatchObject({
    total: 1,
    rows: [
      {
        id: "claude-1",
        name: "Echo",
        aliases: [`a2a:${ECHO}`],
        liveness: {
          value: "alive",
          evidence: { wire: "a2a", rule: "its heartbeats come, its card is its own (owner)" },
        },
      },
    ],
  });
});

test("a card joins no row that another owner reports on", async () => {
  const metadata = { "rollcall.agent_id": "nightly" };
  web.publish(cardOf(ECHO, { metadata }));
  await addAs("bob", ECHO);
  expect((await api.get("/v1/fleet")).body).toMatchObject({ rows: [{ id: "nightly" }] });
  await api.fleet.report(
    {
      alias: "script:nightly",
      agentId: "nightly",
      links: [],
      order: 1,
      reportedAtMs: 1,
      facts: { liveness: { value: "alive", rule: "test" } },
    },
    namedBy("token:ann", "http"),
  );
  expect((await api.get("/v1/fleet/nightly")).body).toMatchObject({
    row: { name: "nightly", aliases: ["script:nightly"] },
  });
  const { body } = await api.get(`/v1/fleet/${encodeURIComponent(ECHO)}`);
  expect(body).toMatchObject({ row: { id: ECHO, aliases: [`a2a:${ECHO}`] } });
});

test("a status file that names the card's URL is the same agent", async () => {
  web.publish(cardOf(ECHO));
  await beat();
  await api.fleet.report(
    {
      alias: "file@host:pi",
      agentId: "pi-1",
      links: ["a2a:http://echo.example/.well-known/agent.json"],
      order: 1,
      reportedAtMs: 1,
      facts: { liveness: { value: "alive", rule: "test" } },
    },
    LIBRARY,
  );
  const { body } = await api.get("/v1/fleet/pi-1");
  expect(body).toMatchObject({ row: { aliases: [`a2a:${ECHO}`, "file@host:pi"] } });
});
