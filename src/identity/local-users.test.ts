import { describe, expect, test } from "vitest";
import { LOCAL } from "../core/principals.ts";
import type { Caller, Peer } from "./caller.ts";
import { chainOf } from "../../test/support/identity/chain.ts";
import { localTrustOn, LocalUsers, type LocalUsersOptions } from "./local-users.ts";

const ends = {
  remoteAddress: "127.0.0.1",
  remotePort: 1,
  localAddress: "127.0.0.1",
  localPort: 2,
};

function caller(peer: Partial<Peer> = {}, headers: Record<string, string> = {}): Caller {
  return {
    peer: { address: "127.0.0.1", ends, isOwnSocket: false, ...peer },
    wire: "http",
    header: (name) => headers[name],
    headerNames: () => Object.keys(headers),
  };
}

function users(uid: number | undefined, options: Partial<LocalUsersOptions> = {}) {
  let asked = 0;
  const userOf = async () => {
    asked += 1;
    return uid;
  };
  const step = new LocalUsers({
    trust: "user",
    allowed: [{ name: "alice", uid: 1001, role: "operator" }],
    users: { userOf },
    uid: 1000,
    ...options,
  });
  return { local: chainOf([step]), asked: () => asked };
}

describe("a caller on this machine", () => {
  test.each([
    ["our own user", 1000],
    ["root", 0],
  ])("that is %s is the owner", async (_, uid) => {
    expect(await users(uid).local.authenticate(caller())).toBe(LOCAL);
  });

  test("that the operator named is itself, in its role", async () => {
    expect(await users(1001).local.authenticate(caller())).toEqual({
      name: "user:alice",
      kind: "person",
      namespace: "default",
      roles: ["operator"],
    });
  });

  test.each([
    [
      "another user",
      1002,
      /user 1002 of this machine is not served here: name it in allowed_users/,
    ],
    ["a process that is gone", undefined, /no process of this machine has the other end/],
  ])("that is %s is refused", async (_, uid, reason) => {
    const refused = users(uid).local.authenticate(caller());
    await expect(refused).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
    await expect(users(uid).local.authenticate(caller())).rejects.toThrow(reason);
  });

  test("is asked for once a connection, and again after a refusal", async () => {
    const { local, asked } = users(1000);
    const call = caller();
    await local.authenticate(call);
    expect(local.authenticate(call)).toBe(LOCAL);
    expect(asked()).toBe(1);
    const stranger = users(1002);
    const other = caller();
    await expect(stranger.local.authenticate(other)).rejects.toThrow("not served here");
    await expect(stranger.local.authenticate(other)).rejects.toThrow("not served here");
    expect(stranger.asked()).toBe(2);
  });

  test("by the daemon's own socket is the owner without a question", () => {
    const { local, asked } = users(1002);
    expect(local.authenticate(caller({ address: undefined, isOwnSocket: true }))).toBe(LOCAL);
    expect(asked()).toBe(0);
  });

  test("is let in whoever it is, or not at all, where the operator says so", () => {
    expect(users(1002, { trust: "any" }).local.authenticate(caller())).toBe(LOCAL);
    const none = users(1000, { trust: "none" }).local;
    expect(() => none.authenticate(caller())).toThrow(/local_trust is none/);
  });

  test.each(["forwarded", "via", "x-real-ip", "x-forwarded-for", "x-forwarded-host"])(
    "is refused when the call was forwarded: %s",
    (name) => {
      const { local } = users(1000);
      const call = caller({}, { [name]: "10.0.0.1" });
      expect(() => local.authenticate(call)).toThrow(`the call has the header ${name}`);
    },
  );
});

test("a caller on another machine is refused", () => {
  const call = caller({ address: "192.0.2.7" });
  expect(() => users(1000).local.authenticate(call)).toThrow(/only this machine is answered/);
});

test.each([
  ["linux", undefined, "user"],
  ["linux", "token", "token"],
  ["darwin", undefined, "any"],
  ["darwin wide", undefined, "token"],
  ["darwin wide", "any", "any"],
  ["linux wide", undefined, "user"],
  ["darwin", "user", "token"],
  ["win32", "user", "token"],
  ["win32", "none", "none"],
] as const)("on %s local_trust %s means %s", (where, set, trust) => {
  const [platform, wide] = where.split(" ") as [NodeJS.Platform, string?];
  expect(localTrustOn({ platform, isWide: wide !== undefined }, set)).toBe(trust);
});

test("without the token of its user nobody on this machine is let in, but by the socket", () => {
  const { local } = users(1000, { trust: "token" });
  expect(() => local.authenticate(caller())).toThrow("callers on this machine present the token");
  expect(local.authenticate(caller({ isOwnSocket: true }))).toBe(LOCAL);
});
