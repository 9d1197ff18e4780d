import { array, assert, nat, property, tuple } from "fast-check";
import { describe, expect, test } from "vitest";
import { byOf, namedBy } from "./by.ts";
import { byOfEvent, decode, encode, jsonOf, type Event } from "./events.ts";
import { LOCAL } from "./principals.ts";
import { play } from "../../test/support/core/play.ts";
import { fingerprint } from "./snapshot.ts";
import { replayed, SECOND, World } from "../../test/support/core/fixture.ts";

const aLife = array(tuple(nat(255), nat(255), nat(255), nat(255)), {
  maxLength: 100,
  size: "max",
});

test("an event is kept on one line that begins with its moment", () => {
  const event: Event = { type: "policy.deleted", id: "two\nlines" };
  const text = encode(event, 42);
  expect(text).toBe('42 {"type":"policy.deleted","id":"two\\nlines"}');
  expect(decode(text, 7)).toEqual({ sequence: 7, atMs: 42, event, text });
});

describe("the caller of an event", () => {
  const event: Event = { type: "policy.deleted", id: "p" };

  test("stands between its moment and its JSON", () => {
    const text = encode(event, 42, byOf(LOCAL, "grpc", "127.0.0.1"));
    expect(text).toBe('42 grpc,127.0.0.1,local {"type":"policy.deleted","id":"p"}');
    expect(decode(text, 7)).toEqual({ sequence: 7, atMs: 42, event, text });
  });

  test.each(["token:ci", "50% {off", "a, b", "%20", "ünï"])("comes back, called %j", (name) => {
    const recorded = decode(encode(event, 42, namedBy(name, "http", "::1")), 7);
    const by = { principal: name, wire: "http", peer: "::1" };
    expect(byOfEvent(recorded)).toEqual(by);
    expect(JSON.parse(jsonOf(recorded, byOfEvent(recorded)))).toEqual({ ...event, by });
    expect(recorded.event).toEqual(event);
  });

  test("is nobody where the engine acts of its own accord, and in a log of before", () => {
    const recorded = decode(encode(event, 42), 7);
    expect(byOfEvent(recorded)).toBeUndefined();
    expect(JSON.parse(jsonOf(recorded, byOfEvent(recorded)))).toEqual(event);
  });
});

test("every event comes back as it was, at the moment it was recorded", () => {
  assert(
    property(aLife, nat(), (steps, atMs) => {
      for (const event of play(steps).history) {
        const { event: decoded, atMs: decodedAtMs } = decode(encode(event, atMs), 1);
        expect(decoded).toEqual(event);
        expect(decodedAtMs).toBe(atMs);
        expect(encode(decoded, atMs + 1)).toBe(encode(event, atMs + 1));
      }
    }),
    { numRuns: 60 },
  );
});

test("a state replayed from the log knows the moment of the last event, whatever it was", () => {
  const world = new World();
  const agentId = world.register();
  world.create({ maxRetries: 1 });
  const taskId = world.claim(agentId) ?? "";
  const failure = world.decide({ type: "task.fail", taskId, agentId, reason: "" });
  if (!failure.ok) throw new Error(failure.reason);
  // Decided now, recorded a second later: both moments are kept.
  world.nowMs += SECOND;
  world.record(failure.events);
  expect(fingerprint(replayed(world.recorded()))).toBe(fingerprint(world.state));
  expect(replayed(world.recorded()).lastAtMs).toBe(world.nowMs);
});
