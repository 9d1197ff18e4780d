import { gunzipSync } from "node:zlib";
import { expect, test, vi } from "vitest";
import { WAITING } from "../directory/limits.ts";
import { cardOf } from "../../test/support/directory/fixture.ts";
import { A2aDoor, AGENTS, ECHO, NEW, OLD, TOKEN } from "../../test/support/daemon/a2a.ts";
import type { Answer } from "../../test/support/daemon/fixture.ts";

const door = new A2aDoor();
const { beat, send, fetched, listed, registered } = door;

test("both generations of the heartbeat verify an agent, each with its own status", async () => {
  door.web.publish(cardOf(ECHO));
  const first = await send(OLD, JSON.stringify({ agent_card: cardOf(ECHO) }));
  expect([first.status, first.body]).toEqual([200, '{"status":"ok","verified":true}']);
  expect(first.headers["retry-after"]).toBeUndefined();
  const second = await beat(cardOf(ECHO));
  expect([second.status, second.body]).toEqual([202, '{"status":"ok","verified":true}']);
  expect(second.headers["retry-after"]).toBe("60");
});

test("an agent that cannot be reached is not listed, and is tried again each time", async () => {
  const { body, status } = await beat(cardOf(ECHO));
  expect([status, JSON.parse(body)]).toEqual([202, { status: "ok", verified: false }]);
  expect(await listed()).toEqual([]);
  door.web.publish(cardOf(ECHO));
  expect(JSON.parse((await beat(cardOf(ECHO))).body)).toMatchObject({ verified: true });
  expect(await listed()).toHaveLength(1);
});

test("what is listed is what the agent publishes, not what was sent", async () => {
  door.web.publish(cardOf(ECHO, { name: "The real one" }));
  await beat(cardOf(ECHO, { name: "Somebody" }));
  expect((await listed()).map(({ name }) => name)).toEqual(["The real one"]);
});

test("a first heartbeat waits for its fetch, and is answered in time if that goes on", async () => {
  const release = door.web.hold();
  door.web.publish(cardOf(ECHO));
  let answered = 0;
  const answering = beat(cardOf(ECHO)).finally(() => (answered += 1));
  await vi.waitFor(() => {
    expect(door.api.engine.peek(({ directory }) => directory.byUrl.has(ECHO))).toBe(true);
  });
  await door.api.clock.advance(WAITING.longestMs - 1);
  expect(answered).toBe(0);
  await door.api.clock.advance(1);
  expect(JSON.parse((await answering).body)).toMatchObject({ verified: false });
  release();
  await vi.waitFor(async () => expect(await listed()).toHaveLength(1));
});

test("an agent that is listed never waits, even where its new card hangs", async () => {
  await registered();
  await door.api.clock.advance(80_000);
  const release = door.web.hold();
  const { body } = await beat(cardOf(ECHO, { name: "Changed" }));
  expect(JSON.parse(body)).toEqual({ status: "ok", verified: true });
  release();
});

test("cards come out in the version asked for, the absent one an explicit null", async () => {
  await registered();
  const [old] = await listed(AGENTS, { "a2a-version": "0.3" });
  expect(old).toMatchObject({ url: ECHO, supportedInterfaces: null });
  const [now] = await listed(AGENTS, { "a2a-version": "1.0" });
  expect(now).toMatchObject({
    url: null,
    supportedInterfaces: [{ url: ECHO, protocolBinding: "json-rpc/2.0" }],
  });
});

test("each card comes out in its own generation where none is asked for", async () => {
  await registered("http://old.example/");
  const supportedInterfaces = [{ url: "http://new.example/rpc" }];
  door.web.pages.set(
    "http://new.example/.well-known/agent-card.json",
    JSON.stringify({ name: "New", supportedInterfaces }),
  );
  await beat({ name: "New", supportedInterfaces });
  expect(await listed()).toMatchObject([
    { url: "http://old.example/", supportedInterfaces: null },
    { url: null, supportedInterfaces },
  ]);
});

test("the card at the origin is taken, and nothing else is asked for", async () => {
  await registered("http://echo.example/jsonrpc");
  expect(door.web.asked).toEqual(["http://echo.example/.well-known/agent.json"]);
});

test("of several agents on one host each gets the card that names it", async () => {
  const [first, second] = ["http://host.example/one", "http://host.example/two"];
  door.web.publish(cardOf(first, { name: "One" }));
  door.web.pages.set(
    `${second}/.well-known/agent.json`,
    JSON.stringify(cardOf(second, { name: "Two" })),
  );
  await beat(cardOf(first));
  await beat(cardOf(second));
  expect((await listed()).map(({ name }) => name)).toEqual(["One", "Two"]);
});

test("an agent is asked to come back thrice before it would be evicted", async () => {
  door.web.publish(cardOf(ECHO));
  for (const [interval, retryAfter] of [
    [3, "3"],
    // The same bytes again.
    [3, "3"],
    [600, "60"],
  ]) {
    const { headers } = await beat(cardOf(ECHO), { interval });
    expect(headers["retry-after"]).toBe(retryAfter);
  }
});

test("fields that nobody knows are listed as they were written", async () => {
  const card = `{"name":"Odd","url":"${ECHO}","x-big":12345678901234567890,"x-one":1.0}`;
  door.web.pages.set("http://echo.example:8080/.well-known/agent.json", card);
  await send(NEW, `{"agent_card":${card}}`);
  for (const version of ["0.3", "1.0"]) {
    const { body } = await fetched(AGENTS, { "a2a-version": version });
    expect(body).toMatch(/,"x-big":12345678901234567890,"x-one":1\.0\}\]$/);
  }
});

test("a listing that did not change is 304, packed or not", async () => {
  await registered();
  const plain = await fetched();
  const packed = await fetched(AGENTS, { "accept-encoding": "gzip" });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  for (const [etag, headers] of [
    [plain.headers.etag, {}],
    [packed.headers.etag, { "accept-encoding": "gzip" }],
  ] as const) {
    const again = await fetched(AGENTS, { "if-none-match": etag ?? "", ...headers });
    expect([again.status, again.body]).toEqual([304, ""]);
  }
  await registered("http://other.example/");
  const changed = await fetched(AGENTS, { "if-none-match": plain.headers.etag ?? "" });
  expect(changed.status).toBe(200);
});

test("what is packed is the listing", async () => {
  await registered();
  const url = `http://${door.host}${AGENTS}`;
  const raw = await new Promise<Buffer>((resolve, reject) => {
    import("node:http")
      .then(({ get }) =>
        get(url, { headers: { "accept-encoding": "gzip" } }, (response) => {
          const chunks: Buffer[] = [];
          response.on("data", (chunk: Buffer) => chunks.push(chunk));
          response.on("end", () => resolve(Buffer.concat(chunks)));
        }),
      )
      .catch(reject);
  });
  expect(gunzipSync(raw).toString()).toBe((await fetched()).body);
});

test("filters: skill, tag and tier, and pages that follow a link", async () => {
  const skills = [{ id: "translate", name: "Translation", tags: ["french"] }];
  await registered("http://a.example/", { skills });
  await door.api.clock.advance(1);
  await registered("http://b.example/");
  await door.api.clock.advance(1);
  await registered("http://c.example/", { skills });
  expect(await listed(`${AGENTS}?skill=TRANSLATE`)).toHaveLength(2);
  expect(await listed(`${AGENTS}?tag=french`)).toHaveLength(2);
  expect(await listed(`${AGENTS}?tag=german`)).toHaveLength(0);
  expect(await listed(`${AGENTS}?tier=owner`)).toHaveLength(3);
  expect(await listed(`${AGENTS}?tier=signed`)).toHaveLength(0);
  const urls: unknown[] = [];
  let next: string | undefined = `${AGENTS}?limit=2`;
  while (next !== undefined) {
    const page: Answer = await fetched(next, { "a2a-version": "0.3" });
    for (const { url } of JSON.parse(page.body) as { url: string }[]) urls.push(url);
    next = /^<(.*)>; rel="next"$/.exec(String(page.headers["link"] ?? ""))?.[1];
  }
  expect(urls).toEqual(["http://a.example/", "http://b.example/", "http://c.example/"]);
});

test("a query that is misspelt is refused by name", async () => {
  for (const [query, why] of [
    ["tiers=owner", "tiers is unknown"],
    ["tier=best", "tier must be one of"],
    ["limit=0", "limit is not a whole number"],
    ["cursor=x", "it is from no earlier page"],
    ["tag=a&tag=b", "tag is given more than once"],
  ]) {
    const { status, body } = await fetched(`${AGENTS}?${query}`);
    expect([status, body]).toEqual([400, expect.stringContaining(why ?? "")]);
  }
});

test("q finds by words of the card, the best first", async () => {
  await registered("http://a.example/", { name: "Baker", description: "bakes bread and cakes" });
  await registered("http://b.example/", { name: "Mason", description: "builds walls of stone" });
  const found = await listed(`${AGENTS}?q=stone+walls&limit=1`);
  expect(found.map(({ name }) => name)).toEqual(["Mason"]);
});

test("what is wrong with a heartbeat is said where it is, as the peer says it", async () => {
  const missing = await send(NEW, "{}");
  expect(missing.status).toBe(422);
  expect(JSON.parse(missing.body)).toMatchObject({
    detail: [{ type: "missing", loc: ["body", "agent_card"], msg: "Field required" }],
  });
  const { detail } = JSON.parse((await beat({ name: 1, url: ECHO }, { interval: 0 })).body) as {
    detail: { loc: string[] }[];
  };
  expect(detail.map(({ loc }) => loc.join("."))).toEqual(["body.agent_card.name", "body.interval"]);
  const ftp = await beat(cardOf("ftp://files.example/"));
  expect([ftp.status, ftp.body]).toEqual([422, expect.stringContaining("http or https")]);
  const long = await beat(cardOf(`http://a.example/${"x".repeat(1500)}`));
  expect([long.status, long.body]).toEqual([422, expect.stringContaining("url has 1517 char")]);
});

test("a heartbeat that is refused is answered as everything is that is refused", async () => {
  const wrong = await fetched(NEW);
  expect([wrong.status, wrong.headers["x-content-type-options"]]).toEqual([404, "nosniff"]);
  const large = await beat(cardOf(ECHO, { description: "x".repeat(300_000) }));
  expect([large.status, large.body]).toEqual([413, expect.stringContaining("TOO_LARGE")]);
  const fine = await beat(cardOf(ECHO));
  expect(fine.headers).toMatchObject({ "x-content-type-options": "nosniff" });
});

test("an agent that falls silent is evicted", async () => {
  await registered();
  await door.api.clock.advance(89_000);
  expect(await listed()).toHaveLength(1);
  await door.api.clock.advance(2_000);
  expect(await listed()).toHaveLength(0);
});

test("the same heartbeat again, and again, keeps it and writes nothing", async () => {
  const { card } = await registered();
  const { head } = door.api.engine;
  const fetches = door.web.asked.length;
  for (let i = 0; i < 20; i += 1) {
    await beat(card, { interval: 30 });
    await door.api.clock.advance(60_000);
  }
  expect(await listed()).toHaveLength(1);
  expect(door.api.engine.head).toBe(head);
  expect(door.web.asked).toHaveLength(fetches);
});

test("a known heartbeat is taken only from a sender that may speak for the agent", async () => {
  const { card } = await registered();
  const body = Buffer.from(JSON.stringify({ agent_card: card, interval: 30 }));
  await send(NEW, body.toString());
  const asked: string[] = [];
  const { directory } = door.api;
  expect(directory.again(body, { check: (url) => asked.push(url) })).toBeGreaterThan(0);
  expect(asked).toEqual([card.url]);
  const check = () => {
    throw new Error("denied");
  };
  expect(() => directory.again(body, { check })).toThrow("denied");
});

test("the token is issued once, and is nowhere in the log", async () => {
  const { answer, card } = await registered();
  const token = String(answer.headers[TOKEN]);
  const again = await beat(card, { interval: 30 });
  expect(again.headers[TOKEN]).toBeUndefined();
  for await (const { text } of door.api.engine.history(() => true))
    expect(text).not.toContain(token);
});

test("who names an origin with a slash or without means the same place", async () => {
  door.web.publish(cardOf("http://echo.example/"));
  await beat(cardOf("http://echo.example"));
  expect(await listed(`${AGENTS}?tier=owner`)).toHaveLength(1);
});

test("all programs of the machine are one source", async () => {
  await beat(cardOf("http://a.example/"));
  const { body } = await door.api.get(`/v1/directory/${encodeURIComponent("http://a.example/")}`);
  expect(body["entry"]).toMatchObject({ source: "local" });
});

test("the catalog lists the registry and its agents, and search ranks them", async () => {
  const skills = [{ id: "dough", name: "Dough", tags: ["bread"], examples: ["bake me a loaf"] }];
  await registered("http://a.example/", { name: "Baker", description: "bakes bread", skills });
  await registered("http://b.example/", { name: "Mason", description: "builds walls of stone" });
  for (const path of ["/.well-known/ai-catalog.json", "/.well-known/ard.json"]) {
    const catalog = JSON.parse((await fetched(path)).body) as { entries: { type: string }[] };
    expect(catalog).toMatchObject({ specVersion: "1.0" });
    expect(catalog.entries.map(({ type }) => type)).toEqual([
      "application/ai-registry+json",
      "application/a2a-agent-card+json",
      "application/a2a-agent-card+json",
    ]);
    expect(catalog.entries[1]).toMatchObject({
      displayName: "Baker",
      url: "http://a.example/.well-known/agent.json",
      representativeQueries: ["bake me a loaf"],
    });
  }
  const search = (query: object, rest: object = {}) =>
    send("/search", JSON.stringify({ query, ...rest }));
  const { body } = await search({ text: "walls of stone" }, { pageSize: 1 });
  const found = JSON.parse(body) as { results: { identifier: string }[]; pageToken: string };
  expect(found).toMatchObject({ results: [{ displayName: "Mason", score: 100 }], pageToken: "1" });
  const next = await search({ text: "walls of stone" }, { pageSize: 1, pageToken: "1" });
  expect(JSON.parse(next.body)).toMatchObject({ results: [{ displayName: "Baker" }] });
  const tagged = await search({ text: "anything", filter: { tags: ["bread"] } });
  expect((JSON.parse(tagged.body) as typeof found).results).toHaveLength(1);
  expect((await search({ text: "x", filter: { "okf:x": ["y"] } })).status).toBe(400);
  expect((await search({})).status).toBe(400);
  const identifier = encodeURIComponent(found.results[0]?.identifier ?? "");
  expect((await fetched(`/agents/${identifier}`)).body).toContain("Mason");
  expect((await fetched("/agents/urn%3Aair%3Ax%3Ay")).status).toBe(404);
});
