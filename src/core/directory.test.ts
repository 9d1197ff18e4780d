import { expect, test } from "vitest";
import { retryAfterS, type HeartbeatCommand } from "./directory-rules.ts";
import { refreshEntry, type CardText, type DirectoryEntry } from "./directory.ts";
import { CARD } from "./card-limits.ts";
import { COUNT, DIRECTORY } from "./limits.ts";
import { DAY, SECOND, World } from "../../test/support/core/fixture.ts";

const URL = "http://agent.example/a2a";
const FETCHED = cardOf("as fetched");

function cardOf(says: string): CardText {
  return { text: JSON.stringify({ name: says }), digest: `digest of ${says}` };
}

function heartbeat(fields: Partial<HeartbeatCommand> = {}): HeartbeatCommand {
  return {
    type: "directory.heartbeat",
    url: URL,
    origin: "http://agent.example",
    source: "10.0.0.1",
    card: cardOf("as sent"),
    intervalMs: 10 * SECOND,
    staleMultiplier: 3,
    newTokenHash: "the token's hash",
    tokenHash: "",
    ...fields,
  };
}

function confirm(fields: { readonly heard?: string; readonly card?: CardText } = {}) {
  return {
    type: "directory.confirm",
    url: URL,
    heard: cardOf("as sent").digest,
    card: FETCHED,
    from: `${URL}/.well-known/agent.json`,
    proof: { isItsOwn: false, isSigned: false, signature: "" },
    ...fields,
  } as const;
}

function entryIn(world: World, url = URL): DirectoryEntry | undefined {
  return world.state.directory.byUrl.get(url)?.entry;
}

/** With one agent that was verified. */
function served(): World {
  const world = new World();
  world.run(heartbeat());
  world.run(confirm());
  return world;
}

/** Time goes by, and its heartbeats come. */
function live(world: World, forMs: number): void {
  for (let ms = 0; ms < forMs; ms += 10 * SECOND) {
    world.pass(10 * SECOND);
    world.run(heartbeat());
  }
}

test("the first heartbeat registers an entry that is not served", () => {
  const world = new World();
  const heard = world.run(heartbeat());
  expect(heard).toEqual({ isNew: true, tier: "unverified", isServed: false, mustVerify: true });
  expect(entryIn(world)).toMatchObject({
    card: null,
    waiting: cardOf("as sent"),
    tier: "unverified",
  });
});

test("what is served is the card that was fetched, not the one that was sent", () => {
  const world = served();
  expect(entryIn(world)).toMatchObject({ card: FETCHED, waiting: null, tier: "reachable" });
  const again = world.run(heartbeat());
  expect(again).toMatchObject({ isNew: false, isServed: true, mustVerify: false });
});

test("a heartbeat that says the same leaves no trace but keeps the entry", () => {
  const world = served();
  for (let i = 0; i < 10; i += 1) {
    world.pass(20 * SECOND);
    const beat = { url: URL, digest: cardOf("as sent").digest, intervalMs: 10 * SECOND };
    expect(world.eventsOf(() => refreshEntry(world.state, beat, world.nowMs))).toEqual([]);
  }
  expect(entryIn(world)).toBeDefined();
});

test("silence for longer than the multiple of its interval evicts it", () => {
  const world = served();
  world.pass(30 * SECOND - 1);
  expect(entryIn(world)).toBeDefined();
  expect(world.topicsOf(() => world.pass(1))).toEqual(["directory.evicted"]);
  expect(world.state.directory.lengths.total).toBe(0);
  expect(world.run(heartbeat()).isNew).toBe(true);
});

test("it stays for as much longer as its registry cleans up late", () => {
  const world = new World();
  world.run(heartbeat({ cleanupMs: 30 * SECOND }));
  world.pass(60 * SECOND - 1);
  expect(entryIn(world)).toBeDefined();
  expect(world.topicsOf(() => world.pass(1))).toEqual(["directory.evicted"]);
});

test("an agent is asked to speak thrice before it is evicted, and never without a pause", () => {
  const asked = [0, 9, 90, 180, 1_000, 2].map((ttlS) => retryAfterS(ttlS * SECOND, 60));
  expect(asked).toEqual([60, 3, 30, 60, 60, 1]);
});

test("another card waits until it is verified; the old one is served meanwhile", () => {
  const world = served();
  live(world, DIRECTORY.changeMs);
  world.run(heartbeat({ card: cardOf("now evil") }));
  expect(entryIn(world)).toMatchObject({ card: FETCHED, waiting: cardOf("now evil") });
  world.run({ type: "directory.doubt", url: URL, reason: "unreachable" });
  expect(entryIn(world)).toMatchObject({ card: FETCHED, tier: "reachable" });
  world.run(confirm({ heard: cardOf("now evil").digest, card: FETCHED }));
  expect(entryIn(world)).toMatchObject({ card: FETCHED, waiting: null });
});

test("a card that came while another was fetched waits for a fetch of its own", () => {
  const world = new World();
  world.run(heartbeat());
  live(world, DIRECTORY.changeMs);
  world.run(heartbeat({ card: cardOf("newer") }));
  world.run(confirm());
  expect(entryIn(world)).toMatchObject({ card: FETCHED, waiting: cardOf("newer") });
});

test("who sends one card after the other causes one change a minute at most", () => {
  const world = served();
  world.pass(1);
  const events = world.eventsOf(() => {
    for (let i = 0; i < 100; i += 1) world.run(heartbeat({ card: cardOf(`evil ${i}`) }));
  });
  expect(events).toEqual([]);
  world.run(heartbeat({ card: cardOf("mine"), tokenHash: "the token's hash" }));
  expect(entryIn(world)?.waiting).toEqual(cardOf("mine"));
});

test("not even the token makes a card served that nobody fetched", () => {
  const world = served();
  world.run(heartbeat({ card: cardOf("mine"), tokenHash: "the token's hash" }));
  expect(entryIn(world)).toMatchObject({ card: FETCHED, tier: "owner", isOwned: true });
});

test("tiers: fetched, its own or with the token, and signed for this very URL", () => {
  const world = served();
  const tierOf = (isItsOwn: boolean, isSigned: boolean) => {
    world.run({ ...confirm(), proof: { isItsOwn, isSigned, signature: "" } });
    return entryIn(world)?.tier;
  };
  expect(tierOf(false, false)).toBe("reachable");
  expect(tierOf(true, false)).toBe("owner");
  expect(tierOf(true, true)).toBe("signed");
  // A signed card of another agent proves nothing about this entry.
  expect(tierOf(false, true)).toBe("reachable");
});

test("an interval of 10⁹ seconds is a day, and one of nothing a second", () => {
  const world = new World();
  world.run(heartbeat({ intervalMs: 1e12 }));
  expect(entryIn(world)).toMatchObject({ intervalMs: DAY, ttlMs: 3 * DAY });
  world.run(heartbeat({ url: "http://b", intervalMs: 1 }));
  expect(entryIn(world, "http://b")?.intervalMs).toBe(SECOND);
});

test("a stranger cannot have an entry evicted by giving it a short interval", () => {
  const world = served();
  world.run(heartbeat({ source: "10.6.6.6", intervalMs: SECOND }));
  expect(entryIn(world)?.intervalMs).toBe(10 * SECOND);
  // All programs of a machine are one source, and one of them may be a stranger to the agent.
  world.run(heartbeat({ intervalMs: SECOND }));
  expect(entryIn(world)).toMatchObject({ intervalMs: 10 * SECOND, ttlMs: 30 * SECOND });
  world.run(heartbeat({ intervalMs: 20 * SECOND }));
  expect(entryIn(world)).toMatchObject({ intervalMs: 20 * SECOND, ttlMs: 60 * SECOND });
  const tokenHash = "the token's hash";
  world.run(heartbeat({ intervalMs: 5 * SECOND, tokenHash }));
  expect(entryIn(world)).toMatchObject({ intervalMs: 5 * SECOND, ttlMs: 15 * SECOND });
  // From here on it is its owner's alone.
  world.run(heartbeat({ intervalMs: DAY }));
  expect(entryIn(world)?.intervalMs).toBe(5 * SECOND);
});

test("one that was added for good stays without heartbeats, until it is removed", () => {
  const world = new World();
  world.run(heartbeat({ intervalMs: 0 }));
  world.pass(1e9);
  expect(entryIn(world)).toBeDefined();
  world.run(heartbeat({ intervalMs: SECOND }));
  world.pass(1e9);
  world.run({ type: "directory.remove", url: URL });
  expect(entryIn(world)).toBeUndefined();
  expect(world.refusal({ type: "directory.remove", url: URL })).toContain("NOT_FOUND");
});

test("a source has so many entries and no more, an origin as well", () => {
  const world = new World();
  const urls = (origin: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({ url: `${origin}/${i}`, origin }));
  for (const each of urls("http://a", COUNT.entriesPerOrigin)) world.run(heartbeat(each));
  const next = { url: "http://a/next", origin: "http://a", source: "another" };
  expect(world.refusal(heartbeat(next))).toBe(
    "LIMIT_EXCEEDED: local already has 1000 agents of the origin: that is the limit",
  );
  for (let i = 1; i < COUNT.entriesPerSource / COUNT.entriesPerOrigin; i += 1) {
    for (const each of urls(`http://b${i}`, COUNT.entriesPerOrigin)) world.run(heartbeat(each));
  }
  expect(world.refusal(heartbeat({ url: "http://z" }))).toMatch(/^LIMIT_EXCEEDED: source 10/);
  expect(world.run(heartbeat({ url: "http://z", origin: "http://z", source: "x" })).isNew).toBe(
    true,
  );
});

test("a card that is too large is refused by name, sent or fetched", () => {
  const world = new World();
  const card = { text: "x".repeat(CARD.bytes + 1), digest: "d" };
  expect(world.refusal(heartbeat({ card }))).toMatch(/^INVALID_ARGUMENT: card has /);
  world.run(heartbeat());
  expect(world.refusal(confirm({ card }))).toMatch(/^INVALID_ARGUMENT: the fetched card has /);
});

test("a failure that repeats is recorded once", () => {
  const world = new World();
  world.run(heartbeat());
  const doubt = (reason: string) => () => world.run({ type: "directory.doubt", url: URL, reason });
  expect(world.topicsOf(doubt("unreachable"))).toEqual(["directory.doubted"]);
  expect(world.topicsOf(doubt("unreachable"))).toEqual([]);
  expect(world.topicsOf(doubt("its card is broken"))).toEqual(["directory.doubted"]);
});

test("after a hand-over every entry has its full time again", () => {
  const world = served();
  world.pass(25 * SECOND);
  world.lead("n2");
  world.pass(29 * SECOND);
  expect(entryIn(world)).toBeDefined();
  world.pass(SECOND);
  expect(entryIn(world)).toBeUndefined();
});
