import { describe, expect, test } from "vitest";
import { chainOf, type TestChainOptions } from "../../test/support/identity/chain.ts";
import { byOfCall, type Caller, type Peer } from "./caller.ts";
import type { ConnectionEnds } from "./connections.ts";
import type { LocalTrust } from "./local-users.ts";
import { ProxyUsers } from "./proxy-users.ts";

const TLS = { certificate: undefined, problem: "" };

function call(
  peer: Partial<Peer>,
  options: TestChainOptions,
  headers: Record<string, string> = {},
) {
  return chainOf([], options).authenticate({
    peer: { address: undefined, ends: undefined, isOwnSocket: false, ...peer },
    wire: "http",
    header: (name) => headers[name],
    headerNames: () => Object.keys(headers),
  });
}

const trusted = [
  { name: "10.1.0.5", role: "operator" as const },
  { name: "10.1.0.0/16", role: "agent" as const },
  { name: "fd00::/8", role: "viewer" as const },
];

describe("a caller on another machine that presents nothing", () => {
  test("is let in by the first trusted network that it is in", () => {
    const agents = { name: "net:10.1.0.0/16", kind: "service", roles: ["agent"] };
    expect(call({ address: "10.1.7.7" }, { trusted })).toMatchObject(agents);
    expect(call({ address: "::ffff:10.1.7.7" }, { trusted })).toMatchObject(agents);
    expect(call({ address: "10.1.0.5" }, { trusted })).toMatchObject({ roles: ["operator"] });
    expect(call({ address: "fd00::5" }, { trusted })).toMatchObject({ roles: ["viewer"] });
    expect(call({ address: "10.1.7.7", tls: TLS }, { trusted })).toMatchObject(agents);
  });

  test("is refused everywhere else, over TLS for want of a token", () => {
    const far = { address: "10.2.0.1" };
    const denied = /^only this machine is answered: the call came from 10\.2\.0\.1; to answer/;
    expect(() => call(far, { trusted })).toThrow(denied);
    expect(() => call(far, { trusted, hasTls: true })).toThrow(
      "the call came from 10.2.0.1 without TLS: call the https address",
    );
    expect(() => call({ ...far, tls: TLS }, { trusted, hasTls: true })).toThrow(
      "the call came from 10.2.0.1 and presents no token",
    );
    expect(() => call(far, { isInsecure: true })).toThrow("presents no token");
  });

  test("is not in the network of the proxy that it came through", () => {
    const headers = { "x-forwarded-for": "10.2.0.1" };
    const proxy = { address: "10.1.0.1" };
    expect(() => call(proxy, { trusted }, headers)).toThrow("the header x-forwarded-for");
    const trustedProxies = ["10.1.0.1"];
    expect(() => call(proxy, { trusted, trustedProxies }, headers)).toThrow(
      "the call came from 10.2.0.1 and presents no token",
    );
    const inside = { "x-forwarded-for": "10.2.0.1, 10.1.7.7" };
    expect(call(proxy, { trusted, trustedProxies }, inside)).toMatchObject({ roles: ["agent"] });
  });
});

describe("a trusted network that a process of this machine names", () => {
  const PROXY = 33;
  const ends = {
    remoteAddress: "127.0.0.1",
    remotePort: 1,
    localAddress: "127.0.0.1",
    localPort: 2,
  };
  const headers = { "x-forwarded-for": "10.1.7.7" };

  /** The call that a process of this user forwards; of one that is closed already without one. */
  function forwarded(
    uid: number | undefined,
    trust: LocalTrust = "user",
    asked: ConnectionEnds[] = [],
  ) {
    const users = {
      userOf: async (each: ConnectionEnds) => {
        asked.push(each);
        return uid;
      },
    };
    const proxyUsers = new ProxyUsers({ trust, allowed: [{ uid: PROXY }], users, uid: 1000 });
    const options = { trusted, trustedProxies: ["127.0.0.1"], proxyUsers };
    const peer = { address: "127.0.0.1", ends, isOwnSocket: false };
    const door = chainOf([], options);
    return async () =>
      door.authenticate({
        peer,
        wire: "http",
        header: (name) => (headers as Record<string, string>)[name],
        headerNames: () => Object.keys(headers),
      });
  }

  test.each([0, 1000, PROXY])("counts where the process is of user %s", async (uid) => {
    expect(await forwarded(uid)()).toMatchObject({ name: "net:10.1.0.0/16" });
  });

  test.each([1001, undefined])("does not where the process is of user %s", async (uid) => {
    const forward = forwarded(uid);
    const why = uid === undefined ? "of no user that can be told" : `of user ${uid}`;
    for (let i = 0; i < 2; i += 1)
      await expect(forward()).rejects.toThrow(`${why}, which is no proxy`);
    await expect(forward()).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  });

  test("is asked for once a connection, and not where every user is trusted", async () => {
    const asked: ConnectionEnds[] = [];
    const forward = forwarded(PROXY, "user", asked);
    await forward();
    await forward();
    expect(asked).toEqual([ends]);
    expect(await forwarded(1001, "any", asked)()).toMatchObject({ roles: ["agent"] });
    expect(asked).toHaveLength(1);
  });
});

test("calls through a trusted proxy are told by their own addresses", async () => {
  const door = chainOf([], { trusted, trustedProxies: ["10.1.0.1"] });
  const peer: Peer = { address: "10.1.0.1", ends: undefined, isOwnSocket: false };
  const from = async (headers: Record<string, string>) => {
    const caller: Caller = {
      peer,
      wire: "http",
      header: (name) => headers[name],
      headerNames: () => Object.keys(headers),
    };
    return byOfCall(caller, await door.authenticate(caller), "http").peer;
  };
  expect(await from({ "x-forwarded-for": "10.1.7.7" })).toBe("10.1.7.7");
  expect(await from({ "x-forwarded-for": "10.1.8.8" })).toBe("10.1.8.8");
  expect(await from({})).toBe("10.1.0.1");
});
