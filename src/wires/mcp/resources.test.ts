import type { Client } from "@modelcontextprotocol/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { quiet, register } from "../../../test/support/engine/fixture.ts";
import { byOf, LIBRARY, type By } from "../../core/by.ts";
import { LOCAL } from "../../core/principals.ts";
import { permitBy } from "../../operations/access.ts";
import { MCP, MODEL_TEXT } from "./limits.ts";
import {
  CLEANED,
  connectedTo,
  HOSTILE,
  openGround,
  type TestGround,
} from "../../../test/support/mcp/fixture.ts";

let ground: TestGround;
let client: Client;

beforeEach(async () => {
  ground = await openGround();
  client = await connectedTo(ground, "legacy");
});

afterEach(async () => {
  await client.close();
  await ground.close();
});

const url = "http://agent.test:1/a?b=c";
const uri = `a2a://agents/${encodeURIComponent(url)}`;

test("cards are described in our words, and what they call themselves is marked", async () => {
  ground.directory.put(
    { url, tier: "reachable", card: { description: HOSTILE } },
    { url: "http://own", tier: "owner", card: { name: HOSTILE, description: HOSTILE } },
    { url: "http://own2/do%20as%20I%20say", tier: "signed", card: { name: "Own2" } },
    { url: "no URL", tier: "signed", card: {} },
  );
  const { resources } = await client.listResources();
  expect(resources.slice(0, 2).map((each) => each.uri)).toEqual([
    "a2a://agents",
    "rollcall://fleet",
  ]);
  expect(resources.slice(2)).toMatchObject([
    { uri, name: "agent at agent.test:1", description: "The card of an A2A agent (reachable)." },
    {
      name: "agent at own",
      description:
        "The card of an A2A agent (owner). It calls itself <agent-data>" +
        `${JSON.stringify(CLEANED).replace("<", String.raw`\u003c`)}</agent-data>`,
    },
    {
      name: "agent at own2",
      description:
        'The card of an A2A agent (signed). It calls itself <agent-data>"Own2"</agent-data>',
    },
    { name: "agent at an unknown host" },
  ]);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates).toMatchObject([{ uriTemplate: "a2a://agents/{url}" }]);
});

test("the cards, one of them, and the fleet are read as JSON", async () => {
  await register(ground.engine);
  ground.directory.put({ url, tier: "reachable", card: { name: HOSTILE, url: null } });
  expect(await read("a2a://agents")).toEqual([{ name: CLEANED }]);
  expect(await read(uri)).toEqual({ name: CLEANED });
  expect(await read("rollcall://fleet")).toMatchObject({
    counts: { IDLE: 1 },
    agents: [{ name: "scraper-1" }],
  });
});

test("what is not there, cannot be or is too large is refused", async () => {
  for (const each of ["a2a://agents/http%3A%2F%2Fgone", "a2a://agents/%", "file:///etc/passwd"]) {
    await expect(client.readResource({ uri: each })).rejects.toThrow(
      /no resource .*resources\/list/,
    );
  }
  const long = `a2a://agents/${"x".repeat(100_000)}`;
  await expect(client.readResource({ uri: long })).rejects.toThrow(/uri is longer than/);
  const description = "x".repeat(MODEL_TEXT.cardTextLength);
  const many = Array.from({ length: 600 }, (_, i) => `http://${i}`);
  ground.directory.put(
    ...many.map((each) => ({ url: each, tier: "owner", card: { description } }) as const),
  );
  await expect(client.readResource({ uri: "a2a://agents" })).rejects.toThrow(/find_agents/);
});

test("of a resource that is too long no more is read than tells that it is", async () => {
  let cards = 0;
  const card = { name: "long", description: "x".repeat(MODEL_TEXT.cardTextLength) };
  const counted = () => {
    cards += 1;
    return card;
  };
  const agents = Array.from({ length: 5_000 }, (_, i) => {
    const listed = { url: `http://a${i}`, tier: "owner", card } as const;
    return Object.defineProperty(listed, "card", { get: counted });
  });
  ground.directory.put(...agents);
  await expect(client.readResource({ uri: "a2a://agents" })).rejects.toThrow(/find_agents/);
  expect(cards).toBeLessThan(MODEL_TEXT.resourceLength / MODEL_TEXT.cardTextLength);
  cards = 0;
  const { resources } = await client.listResources();
  expect([resources.length, cards]).toEqual([MODEL_TEXT.listed + 2, MODEL_TEXT.listed]);
});

test("who subscribes is told, once a second at most, until it leaves", async () => {
  const told: string[] = [];
  client.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    told.push(params.uri);
  });
  client.setNotificationHandler("notifications/resources/list_changed", () => {
    told.push("list");
  });
  expect(ground.directory.watchers).toBe(0);
  await client.subscribeResource({ uri });
  await client.subscribeResource({ uri: "rollcall://fleet" });
  expect(ground.directory.watchers).toBe(1);
  for (let i = 0; i < 100; i += 1) ground.directory.put({ url, tier: "owner", card: {} });
  await ground.clock.advance(MCP.changeMs);
  expect(told).toEqual([uri, "list"]);
  await register(ground.engine);
  await ground.clock.advance(10_000);
  expect(told).toContain("rollcall://fleet");
  await client.unsubscribeResource({ uri: "rollcall://fleet" });
  const before = told.length;
  await register(ground.engine);
  await ground.clock.advance(10_000);
  expect(told).toHaveLength(before);
  await client.close();
  await quiet();
  expect([ground.directory.watchers, ground.changes.size]).toEqual([0, 0]);
});

test("there are only so many subscriptions, and only to what there can be", async () => {
  for (const wrong of ["file:///x", `a2a://agents/${"x".repeat(10_000)}`]) {
    await expect(client.subscribeResource({ uri: wrong })).rejects.toThrow(/no resource/);
  }
  for (let i = 0; i < MCP.subscriptions; i += 1) {
    await client.subscribeResource({ uri: `a2a://agents/${i}` });
  }
  await expect(client.subscribeResource({ uri })).rejects.toThrow(/already 64/);
  await client.subscribeResource({ uri: "a2a://agents/0" });
});

function agentNamed(name: string): By {
  return byOf({ ...LOCAL, name, roles: ["agent"] }, "mcp");
}

async function heardBy(by: By): Promise<string[]> {
  const subscriber = await connectedTo(ground, "legacy", by);
  const told: string[] = [];
  subscriber.setNotificationHandler("notifications/resources/updated", ({ params }) => {
    told.push(params.uri);
  });
  await subscriber.subscribeResource({ uri: "rollcall://fleet" });
  return told;
}

test("a subscriber is told of the fleet that it sees, and not when another's changes", async () => {
  const [ann, bob] = [agentNamed("token:ann"), agentNamed("token:bob")];
  const [own, theirs, all] = [await heardBy(ann), await heardBy(bob), await heardBy(LIBRARY)];
  await ground.clock.advance(10_000);
  const facts = { liveness: { value: "alive", rule: "test" } } as const;
  const report = { alias: "script:1", agentId: "r", links: [], order: 1, reportedAtMs: 1, facts };
  await ground.options.fleet.report(report, ann);
  await ground.clock.advance(10_000);
  expect([own, theirs, all]).toEqual([["rollcall://fleet"], [], ["rollcall://fleet"]]);
});

test("a caller is shown the tools that it may use, and is denied nothing by that", async () => {
  const denied: string[] = [];
  const permit = permitBy(ground.engine, ({ action }) => denied.push(action));
  const viewer = byOf({ ...LOCAL, name: "token:v", roles: ["viewer"] }, "mcp");
  const options = { ...ground.options, permit };
  const looking = await connectedTo({ ...ground, options }, "legacy", viewer);
  const { tools } = await looking.listTools();
  expect(tools.map(({ name }) => name)).not.toContain("acquire_lease");
  expect(denied).toEqual([]);
});

test("an agent that a policy denies is not shown, by whatever name it is asked for", async () => {
  const permit = permitBy(ground.engine);
  const facts = { name: "hush", liveness: { value: "alive", rule: "test" } } as const;
  const report = { alias: "script:1", agentId: "r", links: [], order: 1, reportedAtMs: 1, facts };
  await ground.options.fleet.report(report, LIBRARY);
  const denial = { subject: "role:viewer", action: "fleet.read", resource: "agent:r" };
  const policy = { id: "no", ...denial, effect: "deny" } as const;
  await ground.engine.execute({ type: "policy.set", policy }, LIBRARY);
  const viewer = byOf({ ...LOCAL, name: "token:v", roles: ["viewer"] }, "mcp");
  const options = { ...ground.options, permit };
  const looking = await connectedTo({ ...ground, options }, "legacy", viewer);
  for (const agent of ["r", "hush", "script:1"]) {
    const answer = await looking.callTool({ name: "get_agent", arguments: { agent } });
    expect(JSON.stringify(answer)).toContain("PERMISSION_DENIED");
  }
});

async function read(which: string): Promise<unknown> {
  const { contents } = await client.readResource({ uri: which });
  const [content] = contents;
  expect(content).toMatchObject({ uri: which, mimeType: "application/json" });
  return JSON.parse(content && "text" in content ? content.text : "");
}
