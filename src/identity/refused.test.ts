import { expect, test } from "vitest";
import { LOCAL } from "../core/principals.ts";
import { chainOf } from "../../test/support/identity/chain.ts";
import type { Caller, Peer } from "./caller.ts";
import { LocalUsers, type LocalTrust } from "./local-users.ts";
import { tellingRefusals } from "./refused.ts";

const ENDS = { remoteAddress: "127.0.0.1", remotePort: 5, localAddress: "127.0.0.1", localPort: 6 };

function caller(given: Partial<Peer>, rest: Partial<Caller> = {}): Caller {
  const peer = { address: "127.0.0.1", ends: ENDS, isOwnSocket: false, ...given };
  return { peer, wire: "http", header: () => undefined, headerNames: () => [], ...rest };
}

/** A chain for user 1000 where user 4000 calls, and what was told of those that it refused. */
async function toldOf(call: Caller, trust: LocalTrust = "user"): Promise<readonly string[]> {
  const told: string[] = [];
  const users = { userOf: async () => 4_000 };
  const door = tellingRefusals(
    chainOf([new LocalUsers({ trust, allowed: [], users, uid: 1_000 })]),
    ({ principal, wire, peer }, reason) =>
      told.push(`${principal.name} ${wire} ${peer}: ${reason}`),
  );
  const asked = async () => door.authenticate(call);
  await asked().then(
    (principal) => expect(principal).toBe(LOCAL),
    () => undefined,
  );
  return told;
}

const tls = { certificate: undefined, problem: "" };

test("another user, a hidden proxy and a caller without a token are told of", async () => {
  expect(await toldOf(caller({}, { wire: "grpc" }))).toEqual([
    "nobody grpc 127.0.0.1: user 4000 of this machine is not served here: " +
      "name it in allowed_users of the daemon, or present a token",
  ]);
  expect(await toldOf(caller({}), "none")).toEqual([
    "nobody http 127.0.0.1: loopback is not trusted here (local_trust is none)",
  ]);
  const via = (name: string) => (name === "via" ? "1.1 proxy" : undefined);
  expect(await toldOf(caller({}, { header: via }))).toEqual([
    expect.stringMatching(/^nobody http 127.0.0.1: the call has the header via: /),
  ]);
  expect(await toldOf(caller({ address: "192.0.2.7", tls }))).toEqual([
    expect.stringMatching(/^nobody http 192.0.2.7: .* presents no token/),
  ]);
});

test("all of the loopback range is one peer", async () => {
  expect(await toldOf(caller({ address: "127.8.8.8" }))).toEqual([
    expect.stringMatching(/^nobody http 127.0.0.1: user 4000/),
  ]);
});

test("one that may present its token later is told of only if it may not come", async () => {
  const later = { mayPresentLater: true };
  expect(await toldOf(caller({}, later))).toEqual([]);
  const plain = await toldOf(caller({ address: "192.0.2.7" }, later));
  expect(plain).toEqual([expect.stringMatching(/^nobody http 192.0.2.7: only this machine/)]);
});

test("one that is let in is not told of", async () => {
  expect(await toldOf(caller({}), "any")).toEqual([]);
});
