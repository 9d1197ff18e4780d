import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DIRECTORY } from "../core/limits.ts";
import { cardOf, TestWeb } from "../../test/support/directory/fixture.ts";
import { openApi, type Api } from "../../test/support/daemon/api.ts";
import { listen, type Listener } from "../../test/support/daemon/stream.ts";
import { LIBRARY } from "../core/by.ts";

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

test("what cannot be fetched is not added, and nobody is told why", async () => {
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
