import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { SECOND, World } from "../../test/support/core/fixture.ts";
import { tokenCreate, type TokenCreate } from "../../test/support/core/tokens.ts";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { LOCAL, type Principal } from "../core/principals.ts";
import { newSecret, secretHash } from "../machine/secrets.ts";
import type { Caller, Peer } from "./caller.ts";
import type { IdentityStep } from "./chain.ts";
import { chainOf } from "../../test/support/identity/chain.ts";
import { NO_TOKEN } from "../wires/arcp/codec/messages.ts";
import { BearerTokens } from "./tokens.ts";

class FakeSocket extends EventEmitter {
  destroyed = false;

  destroy(): void {
    this.destroyed = true;
    this.emit("close");
  }
}

function caller(headers: Record<string, string>, peer: Partial<Peer> = {}): Caller {
  return {
    peer: { address: "127.0.0.1", ends: undefined, isOwnSocket: false, ...peer },
    wire: "http",
    header: (name) => headers[name],
    headerNames: () => Object.keys(headers),
  };
}

function bearer(secret: string, peer: Partial<Peer> = {}): Caller {
  return caller({ authorization: `Bearer ${secret}` }, peer);
}

function ground() {
  const world = new World();
  const clock = new TestClock();
  const engine = {
    peek: <T>(select: (state: World["state"]) => T) => select(world.state),
    get nowMs() {
      return world.nowMs;
    },
  };
  const tokens = new BearerTokens({ engine, clock });
  const create = (facts: Partial<TokenCreate> = {}) => {
    const secret = newSecret();
    world.run(tokenCreate({ hash: secretHash(secret), ...facts }));
    return secret;
  };
  const revoke = (name = "ci") => world.run({ type: "token.revoke", name });
  const locals: IdentityStep = {
    authenticate: (_, { kind }) => (kind === "here" ? LOCAL : undefined),
  };
  const steps = [tokens, locals];
  return { world, clock, tokens, create, revoke, steps, door: chainOf(steps) };
}

const UNAUTHENTICATED = expect.objectContaining({ code: "UNAUTHENTICATED" }) as Error;

describe("a presented token decides", () => {
  test("who calls, also where the caller would be the owner without it", () => {
    const { door, create } = ground();
    const viewer = { name: "token:ci", roles: ["viewer"] };
    const secret = create();
    expect(door.authenticate(bearer(secret))).toMatchObject(viewer);
    expect(door.authenticate(bearer(secret, { isOwnSocket: true }))).toMatchObject(viewer);
    expect(door.authenticate(caller({ authorization: `bearer  ${secret}` }))).toMatchObject(viewer);
    expect(door.authenticate(caller({}))).toBe(LOCAL);
  });

  test("that a wrong one is refused, and says nothing of what was sent", () => {
    const { door, create } = ground();
    const secret = create();
    const wrong = [
      `Bearer ${newSecret()}`,
      `Bearer ${secret}x`,
      `Bearer ${secret.slice(0, -1)}`,
      `Bearer ${secret} ${secret}`,
      `Bearer ${secretHash(secret)}`,
      `Bearer ${"x".repeat(2000)}`,
      "Bearer ",
      "Bearer",
      "",
      secret,
      `Basic ${secret}`,
    ];
    for (const authorization of wrong) {
      for (const isOwnSocket of [true, false]) {
        const call = () => door.authenticate(caller({ authorization }, { isOwnSocket }));
        expect(call).toThrow(UNAUTHENTICATED);
        expect(call).toThrow(/^(the token is not known|authorization is not `Bearer TOKEN`)$/);
      }
    }
  });

  test("that it is refused once it is expired or revoked, before any token there is too", () => {
    const { door, world, create, revoke } = ground();
    expect(() => door.authenticate(bearer("any"))).toThrow(UNAUTHENTICATED);
    const [short, gone] = [create({ ttlMs: SECOND }), create({ name: "gone" })];
    world.pass(SECOND);
    expect(() => door.authenticate(bearer(short))).toThrow("the token ci is expired");
    revoke("gone");
    expect(() => door.authenticate(bearer(gone))).toThrow("the token gone is revoked");
  });

  const far = { address: "192.0.2.7" };
  const tls = { certificate: undefined, problem: "" };

  test("nothing from another machine without TLS, unless the operator says so", () => {
    const { door, steps, create } = ground();
    const call = bearer(create(), far);
    expect(() => door.authenticate(call)).toThrow("the call came from 192.0.2.7");
    const viewer = { name: "token:ci" };
    expect(chainOf(steps, { isInsecure: true }).authenticate(call)).toMatchObject(viewer);
    const trusted = [{ name: "192.0.2.0/24", role: "operator" as const }];
    expect(chainOf(steps, { trusted }).authenticate(call)).toMatchObject(viewer);
  });

  test("who calls from another machine over TLS, and through a proxy", () => {
    const { door, create } = ground();
    const secret = create();
    const viewer = { name: "token:ci", roles: ["viewer"] };
    expect(door.authenticate(bearer(secret, { ...far, tls }))).toMatchObject(viewer);
    const forwarded = { authorization: `Bearer ${secret}`, via: "1.1 proxy" };
    expect(door.authenticate(caller(forwarded))).toMatchObject(viewer);
  });
});

describe("the hello of an ARCP session", () => {
  const admitted = { principal: LOCAL, peer: caller({}).peer };

  test("may say any word while there is no token", () => {
    expect(ground().tokens.hello("demo", admitted)).toBe(LOCAL);
  });

  test("is refused with a word of anybody but the daemon's user, also before any token", () => {
    const { tokens } = ground();
    const alice: Principal = { ...LOCAL, name: "user:alice", roles: ["agent"] };
    const other = { ...admitted, principal: alice };
    expect(() => tokens.hello("demo", other)).toThrow("the token is not known");
    expect(tokens.hello(NO_TOKEN, other)).toBe(alice);
  });

  test("must be a token once there is one, or none at all", () => {
    const { tokens, create } = ground();
    const secret = create({ role: "agent" });
    expect(() => tokens.hello("demo", admitted)).toThrow(UNAUTHENTICATED);
    expect(tokens.hello(NO_TOKEN, admitted)).toBe(LOCAL);
    expect(tokens.hello(secret, admitted)).toMatchObject({ name: "token:ci", roles: ["agent"] });
  });

  test("is refused with a token that is over", () => {
    const { tokens, create, revoke } = ground();
    const secret = create();
    revoke();
    expect(() => tokens.hello(secret, admitted)).toThrow("the token ci is revoked");
    expect(() => tokens.hello("demo", admitted)).toThrow("the token is not known");
  });
});

describe("open connections", () => {
  function open(): { readonly fake: FakeSocket; readonly peer: Partial<Peer> } {
    const fake = new FakeSocket();
    return { fake, peer: { socket: fake as unknown as Socket } };
  }

  test("end within a second of their token, and no others", async () => {
    const { door, world, clock, tokens, create, revoke } = ground();
    const [one, other] = [create({ role: "agent" }), create({ name: "other", ttlMs: 60 * SECOND })];
    const sockets = [open(), open(), open()] as const;
    const [http, arcp, kept] = sockets;
    for (let calls = 0; calls < 20; calls += 1) void door.authenticate(bearer(one, http.peer));
    expect(http.fake.listenerCount("close")).toBe(1);
    void tokens.hello(one, { principal: LOCAL, peer: { ...caller({}).peer, ...arcp.peer } });
    void door.authenticate(bearer(other, kept.peer));
    const ended = () => sockets.map(({ fake }) => fake.destroyed);
    await clock.advance(10 * SECOND);
    expect(ended()).toEqual([false, false, false]);
    revoke();
    await clock.advance(SECOND);
    expect(ended()).toEqual([true, true, false]);
    world.pass(60 * SECOND);
    await clock.advance(SECOND);
    expect(ended()).toEqual([true, true, true]);
  });

  test("that are closed are not kept, and nothing is looked at without any", async () => {
    const { door, clock, create } = ground();
    const { fake, peer } = open();
    void door.authenticate(bearer(create(), peer));
    expect(clock.timers).toBe(1);
    fake.destroy();
    await clock.advance(SECOND);
    expect(clock.timers).toBe(0);
  });
});

test("the token of the daemon's user is its user, on this machine alone", () => {
  const ownToken = newSecret();
  const engine = {
    peek: <T>(select: (state: World["state"]) => T) => select(world.state),
    nowMs: 0,
  };
  const world = new World();
  const tokens = new BearerTokens({ engine, clock: new TestClock(), ownToken });
  const peer = caller({}).peer;
  expect(tokens.authenticate(bearer(ownToken))).toBe(LOCAL);
  world.run(tokenCreate({ hash: secretHash(newSecret()) }));
  const far = { principal: LOCAL, peer: { ...peer, address: "192.0.2.7" } };
  expect(() => tokens.hello(ownToken, far)).toThrow("the token is not known");
});
