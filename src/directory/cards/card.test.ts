import { describe, expect, test } from "vitest";
import { endpointsOf, readCard, speaksFor } from "./card.ts";
import { candidateUrls } from "./candidates.ts";
import { readHeartbeat } from "./heartbeat.ts";
import { CARD, HEARTBEAT } from "../../core/card-limits.ts";
import { cardFrom } from "../../../test/support/cards/fixture.ts";
import { cardAs, versionAsked } from "./versions.ts";

const OLD = { name: "Old", url: "http://old.example/a" };
const NEW = { name: "New", supportedInterfaces: [{ url: "http://new.example/rpc" }] };

/** The fields the peer writes whether its author did or not, between the two that differ. */
const REST =
  '"version":"1.0.0","provider":null,"documentationUrl":null,"iconUrl":null,' +
  '"capabilities":{"streaming":false,"pushNotifications":false,"stateTransitionHistory":false,' +
  '"extendedAgentCard":null},"defaultInputModes":["text/plain"],' +
  '"defaultOutputModes":["text/plain"],"skills":[],"protocolVersion":null,' +
  '"preferredTransport":null,"securitySchemes":null,"security":null,"securityRequirements":null';

describe("a card", () => {
  test("is known by its url, else by its first interface's, letter by letter", () => {
    expect(cardFrom(OLD)).toMatchObject({ key: "http://old.example/a", version: "0.3" });
    expect(cardFrom(NEW)).toMatchObject({ key: "http://new.example/rpc", version: "1.0" });
    expect(cardFrom({ ...NEW, url: "HTTP://Both.example" })).toMatchObject({
      key: "HTTP://Both.example",
      version: "1.0",
    });
    expect(cardFrom({ ...NEW, url: "" }).key).toBe("http://new.example/rpc");
  });

  test.each([
    ["neither url nor interfaces", { name: "x" }],
    ["no interface among its interfaces", { name: "x", supportedInterfaces: [] }],
    ["an empty url", { name: "x", url: "" }],
    ["an interface with an empty url", { name: "x", supportedInterfaces: [{ url: "" }] }],
  ])("with %s is none", (_, card) => {
    const [problem] = problemsOf(JSON.stringify({ agent_card: card }));
    expect(problem).toMatchObject({ type: "value_error", loc: ["body", "agent_card"] });
  });

  test("names all places where its agent can be reached", () => {
    const interfaces = [{ url: "http://a.example" }, { url: "http://b.example" }];
    const card = cardFrom({
      name: "x",
      url: "http://a.example",
      supportedInterfaces: interfaces,
      additionalInterfaces: [{ url: "http://c.example", transport: "GRPC" }, {}, 5],
    });
    const all = ["http://a.example", "http://b.example", "http://c.example"];
    expect(endpointsOf(card)).toEqual(all);
  });
});

test("a card speaks for the places it names, and for nobody else's", () => {
  const card = cardFrom({ ...NEW, url: "http://Other.example:80" });
  for (const key of [
    "http://Other.example:80",
    "http://other.example/",
    "http://new.example/rpc",
  ]) {
    expect(speaksFor(card, key)).toBe(true);
  }
  for (const key of ["http://new.example", "https://other.example", "other.example", ""]) {
    expect(speaksFor(card, key)).toBe(false);
  }
});

describe("written for a reader", () => {
  test("of v1.0, an old card has one interface and an explicit null for its url", () => {
    const only = { url: "http://old.example/a", protocolBinding: "json-rpc/2.0" };
    const written = JSON.stringify([{ ...only, protocolVersion: null, tenant: null }]);
    expect(cardAs(cardFrom(OLD), "1.0")).toBe(
      `{"name":"Old","description":null,"url":null,"supportedInterfaces":${written},${REST}}`,
    );
  });

  test("of v0.3, a new card has a url and an explicit null for its interfaces", () => {
    expect(cardAs(cardFrom(NEW), "0.3")).toBe(
      '{"name":"New","description":null,"url":"http://new.example/rpc",' +
        `"supportedInterfaces":null,${REST}}`,
    );
  });

  test("of its own version, only what its author left out is added", () => {
    expect(cardAs(cardFrom(OLD), "0.3")).toContain(
      '"url":"http://old.example/a","supportedInterfaces":null',
    );
    expect(cardAs(cardFrom(NEW), "1.0")).toContain(
      '"url":null,"supportedInterfaces":[{"url":"http://new.example/rpc","protocolBinding":null,',
    );
  });

  test.each([
    ["JSONRPC", "json-rpc/2.0"],
    ["GRPC", "grpc"],
    ["grpc-web", "grpc"],
    ["http", "http"],
    ["HTTP+JSON", "json-rpc/2.0"],
  ])("the transport %s becomes the binding %s", (preferredTransport, binding) => {
    const written = cardAs(cardFrom({ ...OLD, preferredTransport }), "1.0");
    expect(written).toContain(`"protocolBinding":"${binding}"`);
  });

  test("what we do not know is kept, byte for byte and at every depth", () => {
    const big = "123456789012345678901234567890";
    const text =
      `{"zeta" : 1.0, "name":"\\u00e9", "url":"http://a.example", "big":${big}, ` +
      `"skills":[{"id":"s","name":"S","x-rate":1e3}], "capabilities":{"extensions":[ ]}, ` +
      `"provider":{"organization":"o","since":2.50}, "__proto__":{"a" : 1}}`;
    for (const version of ["0.3", "1.0"] as const) {
      const written = cardAs(cardFrom(text), version);
      expect(written.startsWith('{"name":"\\u00e9","description":null')).toBe(true);
      expect(written.endsWith(`,"zeta":1.0,"big":${big},"__proto__":{"a" : 1}}`)).toBe(true);
      expect(written).toContain('"outputModes":null,"x-rate":1e3}]');
      expect(written).toContain('"extendedAgentCard":null,"extensions":[ ]}');
      expect(written).toContain('{"organization":"o","url":null,"since":2.50}');
      expect(cardFrom(written).key).toBe("http://a.example");
    }
  });

  test("what the peer takes for a boolean is one", () => {
    const capabilities = { streaming: "yes", pushNotifications: 0, stateTransitionHistory: "T" };
    expect(cardAs(cardFrom({ ...OLD, capabilities }), "1.0")).toContain(
      '"streaming":true,"pushNotifications":false,"stateTransitionHistory":true',
    );
  });

  test("who asks for a version that begins with 0 gets the old one", () => {
    const asked = ["0.3", "0.3.0", "0", "1.0", "2.0", "", "x"].map(versionAsked);
    expect(asked).toEqual(["0.3", "0.3", "0.3", "1.0", "1.0", "1.0", "1.0"]);
  });
});

describe("where a card may be found", () => {
  function paths(card: object): readonly string[] {
    return candidateUrls(cardFrom(card)).map((url) => url.replace("http://h.example", ""));
  }

  test("at the origin, then at every base from its path, its own file name first", () => {
    expect(paths({ name: "x", url: "http://h.example/a/b/?q=1#f" })).toEqual([
      "/.well-known/agent.json",
      "/.well-known/agent-card.json",
      "/a/b/.well-known/agent.json",
      "/a/b/.well-known/agent-card.json",
      "/a/.well-known/agent.json",
      "/a/.well-known/agent-card.json",
    ]);
    const url = "http://h.example/rpc";
    expect(paths({ name: "x", supportedInterfaces: [{ url }] })[0]).toBe(
      "/.well-known/agent-card.json",
    );
    expect(paths({ name: "x", url: "http://h.example" })).toHaveLength(2);
  });

  test("at the very URL of a JSON file, then at the origin", () => {
    expect(paths({ name: "x", url: "http://h.example/cards/x.json?v=2#f" })).toEqual([
      "/cards/x.json?v=2",
      "/.well-known/agent.json",
      "/.well-known/agent-card.json",
    ]);
  });

  test("at no more than eight places, and always at the origin", () => {
    const found = paths({ name: "x", url: `http://h.example${"/s".repeat(500)}` });
    expect(found).toHaveLength(8);
    expect(found.slice(0, 2)).toEqual(["/.well-known/agent.json", "/.well-known/agent-card.json"]);
    expect(found[2]).toBe(`${"/s".repeat(500)}/.well-known/agent.json`);
    expect(paths({ name: "x", url: "http://h.example/a/b/c" })).toHaveLength(8);
  });

  test.each(["grpc://h.example", "h.example", "file:///x", "http://u:p@h.example", "http://", "x"])(
    "nowhere for %s",
    (url) => {
      expect(candidateUrls(cardFrom({ name: "x", url }))).toEqual([]);
    },
  );
});

function problemsOf(body: string): readonly unknown[] {
  const read = readHeartbeat(body);
  return read.ok ? [] : read.problems;
}

describe("a heartbeat", () => {
  const beat = (interval: string): string =>
    `{"agent_card":${JSON.stringify(OLD)},"interval":${interval}}`;

  test.each([
    ["30", 30],
    ["30.0", 30],
    ['"30"', 30],
    ['" 7 "', 7],
    ["true", 1],
    ["1000000000", HEARTBEAT.maxIntervalS],
    ["99999999999999999999999", HEARTBEAT.maxIntervalS],
  ])("with the interval %s speaks again after %i seconds", (interval, expected) => {
    expect(readHeartbeat(beat(interval))).toMatchObject({
      ok: true,
      heartbeat: { intervalS: expected, card: { key: OLD.url, text: JSON.stringify(OLD) } },
    });
  });

  test("without an interval speaks again after a minute", () => {
    const read = readHeartbeat(JSON.stringify({ agent_card: OLD }));
    expect(read).toMatchObject({ ok: true, heartbeat: { intervalS: 60 } });
  });

  test("keeps its card as it was written, and tells when it is ambiguous", () => {
    const text = '{ "name":"x", "url":"http://a.example", "n":1.0, "n":2.0 }';
    expect(readHeartbeat(`{"agent_card": ${text} }`)).toMatchObject({
      ok: true,
      heartbeat: { card: { text, isAmbiguous: true } },
    });
  });

  test("that is wrong in many places is told of the first of them", () => {
    const skills = Array.from({ length: 100 }, () => ({}));
    expect(problemsOf(JSON.stringify({ agent_card: { ...OLD, skills } }))).toHaveLength(
      CARD.problems,
    );
  });

  test("that is wrong and long is not repeated to its sender", () => {
    const agentCard = { url: "http://a.example", filler: "x".repeat(5000) };
    expect(problemsOf(JSON.stringify({ agent_card: agentCard }))).toEqual([
      { type: "missing", loc: ["body", "agent_card", "name"], msg: "Field required", input: null },
    ]);
  });
});

describe("beyond its limits a card is refused, and told which", () => {
  const long = (length: number): string => "x".repeat(length);
  const many = (length: number): object[] =>
    Array.from({ length }, (_, i) => ({ id: String(i), name: "n", url: "http://a.example" }));

  test("all of it", () => {
    const whole = { loc: [], type: "string_too_long" };
    const card = JSON.stringify({ ...OLD, x: long(CARD.bytes) });
    expect(readCard(card)).toMatchObject({ ok: false, problems: [whole] });
    const heartbeat = `{"agent_card":${card},"x":"${long(HEARTBEAT.bytes)}"}`;
    expect(problemsOf(heartbeat)).toMatchObject([{ ...whole, loc: ["body"] }]);
  });

  test.each([
    ["name", { ...OLD, name: long(CARD.nameLength + 1) }, ["name"]],
    ["url", { ...OLD, url: `http://a.example/${long(CARD.urlLength)}` }, ["url"]],
    ["description", { ...OLD, description: long(CARD.proseLength + 1) }, ["description"]],
    ["skills", { ...OLD, skills: many(CARD.skills + 1) }, ["skills"]],
    ["interfaces", { ...OLD, supportedInterfaces: many(65) }, ["supportedInterfaces"]],
    [
      "tags",
      { ...OLD, skills: [{ id: "a", name: "b", tags: Array.from({ length: 257 }, () => "t") }] },
      ["skills", 0, "tags"],
    ],
  ])("%s", (_, card, loc) => {
    const read = readCard(JSON.stringify(card));
    expect(read).toMatchObject({
      ok: false,
      problems: [{ loc, type: expect.stringMatching(/too_long$/) as string }],
    });
  });
});
