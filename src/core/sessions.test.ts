import { describe, expect, test } from "vitest";
import { FIELD } from "./limits.ts";
import {
  limitSessions,
  setAttached,
  type ResumeCommand,
  type Session,
  type SessionLimits,
} from "./sessions.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";
import { audit } from "../../test/support/core/audit.ts";
import { replayed, SECOND, START_MS, World } from "../../test/support/core/fixture.ts";
import { sessionDefaults } from "../../test/support/core/jobs.ts";

const WINDOW_MS = 600 * SECOND;

function worldWith(limits: Partial<SessionLimits>): World {
  const world = new World();
  limitSessions(world.state, { ...world.state.sessions.limits, ...limits });
  return world;
}

function sessionOf(world: World, sessionId = "s1"): Session | undefined {
  return world.state.sessions.byId.get(sessionId)?.session;
}

function resumeOf(fields: Partial<ResumeCommand> = {}): ResumeCommand {
  return {
    ...sessionDefaults(),
    type: "session.resume",
    sessionId: "s1",
    newTokenHash: "second",
    isUnproven: false,
    isKept: true,
    ...fields,
  };
}

function attach(world: World, sessionId = "s1", isAttached = true): void {
  setAttached(world.state, sessionId, { isAttached, nowMs: world.nowMs });
}

describe("a session is opened", () => {
  test("with what both sides agreed on, and the digest of its token", () => {
    const world = new World();
    world.open("s1", { features: ["ack", "subscribe"] });
    expect(sessionOf(world)).toEqual({
      id: "s1",
      principal: "ann",
      client: "cli 1.0",
      profile: "spec",
      features: ["ack", "subscribe"],
      openedAtMs: START_MS,
      tokenHash: "first",
      tokenHashBefore: "",
    });
  });

  test("once", () => {
    const world = new World();
    world.open("s1");
    const again = { ...sessionDefaults(), sessionId: "s1", tokenHash: "other" };
    expect(world.refusal(again)).toBe("ALREADY_EXISTS: s1 was opened already");
  });

  test("with names that fit", () => {
    const refusal = (fields: object) =>
      new World().refusal({ ...sessionDefaults(), sessionId: "s1", ...fields });
    expect(refusal({ sessionId: "" })).toContain("sessionId is empty");
    expect(refusal({ principal: "" })).toContain("principal is empty");
    const client = "x".repeat(FIELD.descriptionLength + 1);
    expect(refusal({ client })).toContain("client has 4097 characters");
  });

  test("while there is room, for its principal and for all", () => {
    const world = worldWith({ perPrincipal: 2, total: 3 });
    const refusal = (principal: string) =>
      world.refusal({ ...sessionDefaults(), sessionId: "s9", principal });
    for (const id of ["s1", "s2"]) world.open(id);
    expect(refusal("ann")).toBe("LIMIT_EXCEEDED: ann has 2 sessions");
    world.open("s3", { principal: "bob" });
    expect(refusal("bob")).toBe(
      "LIMIT_EXCEEDED: bob already has 1 sessions: its share of the limit 3 is 1",
    );
  });
});

describe("a resume", () => {
  test("rotates the token; what the client says of itself counts anew", () => {
    const world = new World();
    world.open("s1");
    const session = world.run(resumeOf({ tokenHash: "first", client: "cli 2.0", profile: "py" }));
    expect(session).toMatchObject({
      tokenHash: "second",
      tokenHashBefore: "first",
      client: "cli 2.0",
      profile: "py",
      openedAtMs: START_MS,
    });
    expect(sessionOf(world)).toEqual(session);
  });

  test("by the token before counts only while the client may not have the new one", () => {
    const world = new World();
    world.open("s1");
    world.run(resumeOf({ tokenHash: "first" }));
    const late = { tokenHash: "first", newTokenHash: "third" };
    expect(world.refusal(resumeOf(late))).toMatch(/^OUT_OF_RANGE/);
    world.run(resumeOf({ ...late, isUnproven: true }));
    // Lost again and again: the token that the client has counts until it has another.
    const again = { tokenHash: "first", isUnproven: true };
    for (const newTokenHash of ["fourth", "fifth"]) world.run(resumeOf({ ...again, newTokenHash }));
    expect(sessionOf(world)).toMatchObject({ tokenHash: "fifth", tokenHashBefore: "first" });
    for (const tokenHash of ["second", "third", "fourth"]) {
      expect(world.refusal(resumeOf({ ...again, tokenHash }))).toMatch(/^OUT_OF_RANGE/);
    }
  });

  test("proved by the client makes the token before worthless", () => {
    const world = new World();
    world.open("s1");
    world.run(resumeOf({ tokenHash: "first" }));
    const prove = () => world.run({ type: "session.prove", sessionId: "s1" });
    expect(world.topicsOf(prove)).toEqual(["session.proved"]);
    expect(world.topicsOf(prove)).toEqual([]);
    expect(world.refusal(resumeOf({ tokenHash: "first", isUnproven: true }))).toMatch(
      /^OUT_OF_RANGE/,
    );
    expect(world.refusal(resumeOf({ tokenHash: "", isUnproven: true }))).toMatch(/^OUT_OF_RANGE/);
  });

  test("is refused with one sentence, whatever was wrong", () => {
    const world = new World();
    world.open("s1");
    const refusal = (fields: Partial<ResumeCommand>) =>
      world.refusal(resumeOf({ tokenHash: "first", ...fields }));
    const sentence = "OUT_OF_RANGE: this session cannot be resumed";
    expect(refusal({ sessionId: "none" })).toBe(sentence);
    expect(refusal({ principal: "bob" })).toBe(sentence);
    expect(refusal({ tokenHash: "guess" })).toBe(sentence);
    expect(refusal({ isKept: false })).toBe(sentence);
  });
});

describe("a subscription", () => {
  test("begins at a position of the job's stream, and ends", () => {
    const world = new World();
    world.open("s1");
    const jobId = world.submit();
    world.run({ type: "session.subscribe", sessionId: "s1", jobId, after: 3 });
    const { subscriptions } = world.state.sessions.byId.get("s1") ?? {};
    expect([...(subscriptions?.values() ?? [])]).toMatchObject([{ jobId, after: 3 }]);
    const end = () => world.run({ type: "session.unsubscribe", sessionId: "s1", jobId });
    expect(world.topicsOf(end)).toEqual(["session.unsubscribed"]);
    expect(world.topicsOf(end)).toEqual([]);
    expect(subscriptions?.size).toBe(0);
  });

  test("needs a session and a job that are there", () => {
    const world = new World();
    world.open("s1");
    const jobId = world.submit();
    const refusal = (fields: object) =>
      world.refusal({ type: "session.subscribe", sessionId: "s1", jobId, after: 0, ...fields });
    expect(refusal({ sessionId: "none" })).toBe("NOT_FOUND: no session none");
    expect(refusal({ jobId: "job_none" })).toBe("NOT_FOUND: no job job_none");
  });
});

describe("a session is gone", () => {
  test("when its window is over and nobody resumed it", () => {
    const world = new World();
    world.open("s1");
    attach(world);
    world.pass(10 * WINDOW_MS);
    expect(sessionOf(world)).toBeDefined();
    attach(world, "s1", false);
    world.pass(WINDOW_MS - 1);
    expect(sessionOf(world)).toBeDefined();
    expect(world.eventsOf(() => world.pass(1))).toEqual([
      { type: "session.gone", sessionId: "s1" },
    ]);
    expect(world.state.sessions.byPrincipal.of("ann").size).toBe(0);
  });

  test("not while it is attached, however often it comes and goes", () => {
    const world = new World();
    world.open("s1");
    for (let i = 0; i < 5; i += 1) {
      world.pass(WINDOW_MS - 1);
      attach(world);
      world.pass(WINDOW_MS);
      attach(world, "s1", false);
    }
    expect(sessionOf(world)).toBeDefined();
    expect(audit(world.state)).toEqual([]);
  });

  test("not sooner than a whole window after a restart, which detaches all of them", () => {
    const world = new World();
    world.open("s1");
    attach(world);
    world.pass(WINDOW_MS);
    const again = new World();
    again.nowMs = world.nowMs;
    replayed(world.recorded(), again.state);
    again.lead();
    again.pass(WINDOW_MS - 1);
    expect(sessionOf(again)).toBeDefined();
    again.pass(1);
    expect(sessionOf(again)).toBeUndefined();
  });

  test("after the window of the daemon that leads, also one of before", async () => {
    const world = new World();
    world.open("s1");
    const state = await restore(capture(world.state));
    const again = new World();
    Object.assign(again, { state });
    limitSessions(state, { ...state.sessions.limits, resumeWindowSec: 5 });
    expect(audit(state)).toEqual([]);
    again.pass(5 * SECOND);
    expect(state.sessions.byId.size).toBe(0);
  });
});

test("a session of an older program's file is imported once, with what it follows", () => {
  const world = new World();
  world.open("s0");
  const session = { ...(sessionOf(world, "s0") ?? fail()), id: "s1" };
  const jobId = world.submit();
  const subscriptions = [{ sessionId: "s1", jobId, after: 7 }];
  const take = () => world.run({ type: "session.import", session, subscriptions });
  expect(world.topicsOf(take)).toEqual(["session.opened", "session.subscribed"]);
  expect(world.topicsOf(take)).toEqual([]);
  expect(sessionOf(world)).toEqual(session);
  expect(fingerprint(replayed(world.recorded()))).toBe(fingerprint(world.state));
});

function fail(): never {
  throw new Error("there is no session");
}
