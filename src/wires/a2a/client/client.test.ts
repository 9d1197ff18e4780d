import { inspect } from "node:util";
import { describe, expect, test, vi } from "vitest";
import { quiet, TestClock } from "../../../../test/support/engine/fixture.ts";
import { RegistryClient, type RegistryClientOptions } from "./client.ts";
import { TOKEN_HEADER } from "./calls.ts";
import { BEAT } from "./limits.ts";

const CARD = { name: "A", url: "http://agent.example", big: 1 };
const NEW_PATH = "/.well-known/agents/heartbeat";
const OLD_PATH = "/registry/heartbeat";

interface Sent {
  readonly atMs: number;
  readonly path: string;
  readonly body: unknown;
  readonly headers: Headers;
}

/** A registry of answers made up beforehand; the last one is given again and again. */
class FakeRegistry {
  readonly clock = new TestClock();
  readonly sent: Sent[] = [];
  answers: (Response | Error | undefined)[] = [];
  /** Paths that it does not know. */
  unknown: readonly string[] = [];

  client(options: Partial<RegistryClientOptions> = {}): RegistryClient {
    return new RegistryClient(CARD, {
      registryUrl: "http://registry.example/",
      clock: this.clock,
      random: () => 0,
      env: {},
      fetch: async (url, init) => this.#answer(url, init),
      ...options,
    });
  }

  get times(): readonly number[] {
    return this.sent.map(({ atMs }) => atMs);
  }

  async #answer(url: string, init: RequestInit): Promise<Response> {
    const path = url.replace("http://registry.example", "");
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    this.sent.push({
      atMs: this.clock.monotonicMs(),
      path,
      body,
      headers: new Headers(init.headers),
    });
    if (this.unknown.includes(path)) return new Response("{}", { status: 404 });
    const next = this.answers.length > 0 ? this.answers.shift() : beat(true);
    if (next instanceof Error) throw next;
    if (next) return next;
    return new Promise((_, reject) => {
      init.signal?.addEventListener("abort", () => reject(init.signal?.reason as Error));
    });
  }
}

function beat(verified: boolean, headers: Record<string, string> = {}, status = 202): Response {
  return new Response(JSON.stringify({ status: "ok", verified }), { status, headers });
}

describe("one heartbeat", () => {
  test("says the card as it is, and what came of it", async () => {
    const registry = new FakeRegistry();
    registry.answers = [beat(false)];
    await expect(registry.client().sendOnce()).resolves.toEqual({ verified: false });
    expect(registry.sent).toMatchObject([
      { path: NEW_PATH, body: { agent_card: CARD, interval: 60 } },
    ]);
    expect(registry.sent[0]?.headers.get("content-type")).toBe("application/json");
    expect(registry.sent[0]?.headers.has("authorization")).toBe(false);
    expect(registry.clock.timers).toBe(0);
  });

  test("goes to the older path where the newer is unknown, and stays there", async () => {
    const registry = new FakeRegistry();
    registry.unknown = [NEW_PATH];
    const client = registry.client();
    await client.sendOnce();
    await client.sendOnce();
    expect(registry.sent.map(({ path }) => path)).toEqual([NEW_PATH, OLD_PATH, OLD_PATH]);
    registry.unknown = [OLD_PATH];
    await client.sendOnce();
    expect(registry.sent.map(({ path }) => path).slice(3)).toEqual([OLD_PATH, NEW_PATH]);
  });

  test("fails where there is no registry at all", async () => {
    const registry = new FakeRegistry();
    registry.unknown = [NEW_PATH, OLD_PATH];
    await expect(registry.client().sendOnce()).rejects.toMatchObject({ code: "NOT_FOUND" });
  });

  test("turns the card into the version asked for", async () => {
    const registry = new FakeRegistry();
    await registry.client({ a2aVersion: "1.0" }).sendOnce();
    await registry.client({ env: { A2A_VERSION: "0.3", HEARTBEAT_INTERVAL: "7" } }).sendOnce();
    expect(registry.sent[0]?.body).toMatchObject({
      agent_card: { url: null, supportedInterfaces: [{ url: CARD.url }], big: 1 },
    });
    expect(registry.sent[1]?.body).toMatchObject({
      agent_card: { url: CARD.url, supportedInterfaces: null },
      interval: 7,
    });
  });

  test("carries the token, and not to where a redirect leads", async () => {
    const fetch = vi.fn(async (_url: string, _init: RequestInit) => beat(true));
    const registry = new FakeRegistry();
    await registry.client({ token: "t0", fetch }).sendOnce();
    expect(fetch.mock.calls[0]?.[1]).toMatchObject({
      redirect: "error",
      headers: { authorization: "Bearer t0" },
    });
  });

  test("keeps the token it was issued, shows it from then on, and hands it out once", async () => {
    const registry = new FakeRegistry();
    const issued = { [TOKEN_HEADER]: "secret-1" };
    registry.answers = [beat(true, issued), beat(true, issued), new Response("[]")];
    const kept: string[] = [];
    const client = registry.client({ onRegistrationToken: (token) => kept.push(token) });
    await client.sendOnce();
    await client.sendOnce();
    await client.list();
    const shown = registry.sent.map(({ headers }) => headers.get(TOKEN_HEADER));
    expect(shown).toEqual([null, "secret-1", null]);
    expect(kept).toEqual(["secret-1"]);
    expect(inspect(client, { depth: 9, showHidden: true })).not.toContain("secret-1");
  });

  test("shows the token of an earlier run, until the registry issues another", async () => {
    const registry = new FakeRegistry();
    registry.answers = [beat(true), beat(true, { [TOKEN_HEADER]: "secret-2" })];
    const kept: string[] = [];
    const client = registry.client({
      registrationToken: "secret-1",
      onRegistrationToken: (token) => kept.push(token),
    });
    for (let i = 0; i < 3; i += 1) await client.sendOnce();
    const shown = registry.sent.map(({ headers }) => headers.get(TOKEN_HEADER));
    expect(shown).toEqual(["secret-1", "secret-1", "secret-2"]);
    expect(kept).toEqual(["secret-2"]);
  });

  test.each(["", "two words", "x".repeat(BEAT.tokenLength + 1)])(
    "a token of %j is none, whoever gives it",
    async (token) => {
      const registry = new FakeRegistry();
      registry.answers = [beat(true, { [TOKEN_HEADER]: token })];
      const kept: string[] = [];
      await registry.client({ onRegistrationToken: (issued) => kept.push(issued) }).sendOnce();
      expect(kept).toEqual([]);
      const held = () => registry.client({ registrationToken: token });
      expect(held).toThrow(/^registrationToken is not one that a registry issued$/);
    },
  );

  test.each([
    [422, "INVALID_ARGUMENT", "body.agent_card.name: Field required"],
    [401, "UNAUTHENTICATED", "401"],
    [429, "LIMIT_EXCEEDED", "429"],
    [500, "UNAVAILABLE", "500"],
  ])("refused with %i is %s", async (status, code, message) => {
    const registry = new FakeRegistry();
    const detail = [{ loc: ["body", "agent_card", "name"], msg: "Field required" }];
    registry.answers = [new Response(JSON.stringify({ detail }), { status })];
    await expect(registry.client().sendOnce()).rejects.toMatchObject({
      code,
      message: expect.stringContaining(message) as string,
    });
  });

  test.each(["", "<html>", "null", "[]", '{"verified":"yes"}'])(
    "an answer of %j is none of a registry's",
    async (text) => {
      const registry = new FakeRegistry();
      registry.answers = [new Response(text, { status: 200 })];
      await expect(registry.client().sendOnce()).rejects.toMatchObject({ code: "INTERNAL" });
    },
  );

  test("is given up after its time, and when nobody waits for it", async () => {
    const registry = new FakeRegistry();
    registry.answers = [undefined, undefined];
    const late = registry.client().sendOnce();
    late.catch(() => undefined);
    await registry.clock.advance(BEAT.answerMs);
    await expect(late).rejects.toMatchObject({ code: "DEADLINE_EXCEEDED" });
    const interest = new AbortController();
    const unwanted = registry.client().sendOnce({ signal: interest.signal });
    unwanted.catch(() => undefined);
    await quiet();
    interest.abort();
    await expect(unwanted).rejects.toMatchObject({ code: "CANCELLED" });
    expect(registry.clock.timers).toBe(0);
  });
});

describe("in the background", () => {
  test("it speaks at once, then every interval", async () => {
    const registry = new FakeRegistry();
    const results: unknown[] = [];
    await using client = registry.client({ intervalS: 30, onHeartbeat: (r) => results.push(r) });
    client.start().start();
    await registry.clock.advance(90_000);
    expect(registry.times).toEqual([0, 30_000, 60_000, 90_000]);
    expect(results).toHaveLength(4);
  });

  test("never later than the interval, and up to a tenth earlier", async () => {
    const registry = new FakeRegistry();
    const draws = [0, 0.5, 1];
    await using client = registry.client({ intervalS: 10, random: () => draws.shift() ?? 0 });
    client.start();
    await registry.clock.advance(30_000);
    expect(registry.times).toEqual([0, 10_000, 19_500, 28_500]);
  });

  test("it takes the interval that the registry asks for, and announces it", async () => {
    const registry = new FakeRegistry();
    registry.answers = [beat(true, { "retry-after": "5" })];
    await using client = registry.client({ intervalS: 60 });
    client.start();
    await registry.clock.advance(10_000);
    expect(registry.times).toEqual([0, 5_000, 10_000]);
    expect(client.intervalS).toBe(5);
    expect(registry.sent[1]?.body).toMatchObject({ interval: 5 });
  });

  test.each([
    ["0", 1],
    ["999999999", 86_400],
    ["soon", 60],
    ["-5", 60],
    ["1.5", 60],
  ])("an interval of %s from a registry becomes %i", async (asked, expected) => {
    const registry = new FakeRegistry();
    registry.answers = [beat(true, { "retry-after": asked })];
    const client = registry.client();
    await client.sendOnce();
    expect(client.intervalS).toBe(expected);
  });

  test("after failures it comes back soon, then less and less often", async () => {
    const registry = new FakeRegistry();
    const gone = Array.from({ length: 5 }, () => new TypeError("fetch failed"));
    registry.answers = [...gone, beat(true)];
    const failures: unknown[] = [];
    await using client = registry.client({
      intervalS: 6,
      onFailure: (error) => failures.push(error.code),
    });
    client.start();
    await registry.clock.advance(25_000);
    expect(registry.times).toEqual([0, 1_000, 3_000, 7_000, 13_000, 19_000, 25_000]);
    expect(failures).toEqual(Array.from({ length: 5 }, () => "UNAVAILABLE"));
  });

  test("a registry that is busy says when to come back", async () => {
    const registry = new FakeRegistry();
    registry.answers = [new Response("{}", { status: 429, headers: { "retry-after": "40" } })];
    await using client = registry.client({ intervalS: 10 });
    client.start();
    await registry.clock.advance(40_000);
    expect(registry.times).toEqual([0, 40_000]);
    expect(client.intervalS).toBe(10);
  });

  test("close ends it wherever it is, leaves no timer, and can be repeated", async () => {
    const registry = new FakeRegistry();
    registry.answers = [beat(true), undefined];
    const waiting = registry.client().start();
    await quiet();
    await waiting.close();
    const calling = registry.client().start();
    await quiet();
    await Promise.all([calling.close(), calling.close()]);
    expect(registry.clock.timers).toBe(0);
    await registry.clock.advance(600_000);
    expect(registry.sent).toHaveLength(2);
    await expect(calling.sendOnce()).rejects.toMatchObject({ code: "CANCELLED" });
  });
});

describe("the list", () => {
  test("is asked for in a version, and with what Rollcall understands", async () => {
    const registry = new FakeRegistry();
    registry.answers = [new Response('[{"name":"A"}]'), new Response("[]")];
    const client = registry.client();
    await expect(client.list()).resolves.toEqual([{ name: "A" }]);
    await client.list({ version: "0.3", q: "translate text", limit: 5 });
    const asked = registry.sent.map(({ path, headers }) => [path, headers.get("a2a-version")]);
    expect(asked).toEqual([
      ["/.well-known/agents", "1.0"],
      ["/.well-known/agents?q=translate+text&limit=5", "0.3"],
    ]);
  });

  test("is followed page by page, to where the registry says", async () => {
    const registry = new FakeRegistry();
    const next = "/.well-known/agents?limit=1&cursor=abc";
    registry.answers = [
      new Response('[{"name":"A"}]', { headers: { link: `<${next}>; rel="next"` } }),
      new Response('[{"name":"B"}]'),
    ];
    const names: string[] = [];
    for await (const page of registry.client({ token: "t0" }).pages({ limit: 1, version: "0.3" })) {
      names.push(...page.map(({ name }) => name));
    }
    expect(names).toEqual(["A", "B"]);
    expect(registry.sent.map(({ path }) => path)).toEqual(["/.well-known/agents?limit=1", next]);
    expect(registry.sent[1]?.headers.get("a2a-version")).toBe("0.3");
  });

  test("is not followed to another registry, which would see the token", async () => {
    const registry = new FakeRegistry();
    const link = '<http://evil.example/.well-known/agents?cursor=x>; rel="next"';
    registry.answers = [new Response("[]", { headers: { link } })];
    const pages = registry.client({ token: "t0" }).pages();
    await expect(pages.next()).resolves.toEqual({ done: false, value: [] });
    await expect(pages.next()).rejects.toMatchObject({ code: "INTERNAL" });
    expect(registry.sent).toHaveLength(1);
  });

  test.each([
    [new Response("{}"), "INTERNAL"],
    [new Response("no"), "INTERNAL"],
    [new Response("", { status: 403 }), "PERMISSION_DENIED"],
  ])("that is none is an error", async (answer, code) => {
    const registry = new FakeRegistry();
    registry.answers = [answer];
    await expect(registry.client().list()).rejects.toMatchObject({ code });
  });
});

test.each([
  ["no registry", { registryUrl: "" }, "REGISTRY_URL"],
  ["a registry with a password", { registryUrl: "http://u:p@registry" }, "registryUrl"],
  ["an interval of nothing", { intervalS: 0 }, "intervalS is 0"],
  ["an interval of days", { intervalS: 1e9 }, "allowed are 1 to 86400"],
])("%s is refused at once", (_, options, message) => {
  expect(() => new FakeRegistry().client(options)).toThrow(message);
});

test("a card that is none is refused at once, with what is wrong with it", () => {
  const options = { registryUrl: "http://registry.example" };
  expect(() => new RegistryClient({ name: "x" }, options)).toThrow("either 'url'");
  expect(() => new RegistryClient({ name: 5 } as never, options)).toThrow("name: Input should be");
});
