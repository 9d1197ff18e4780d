import { X509Certificate } from "node:crypto";
import { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { chainOf } from "../../test/support/identity/chain.ts";
import { pairFor } from "../../test/support/tls/pairs.ts";
import type { Role } from "../core/principals.ts";
import { LOCAL } from "../core/principals.ts";
import { Certificates } from "./certificates.ts";
import type { Caller, PeerTls } from "./caller.ts";

const DAY_MS = 86_400_000;

function ground(clients: Readonly<Record<string, Role>>) {
  const clock = new TestClock();
  const named = Object.entries(clients).map(([name, role]) => ({ name, role }));
  const step = new Certificates({ clients: named, clock });
  const tokens = {
    authenticate: (caller: Caller) =>
      caller.header("authorization") === undefined ? undefined : LOCAL,
  };
  const door = chainOf([step, tokens]);
  const call = (tls: PeerTls, headers: Record<string, string> = {}) => {
    const peer = { address: "192.0.2.7", ends: undefined, isOwnSocket: false, tls };
    return door.authenticate({
      peer,
      wire: "http",
      header: (name) => headers[name],
      headerNames: () => Object.keys(headers),
    });
  };
  return { clock, call, door, step };
}

function presented(names: readonly string[], problem = ""): PeerTls {
  return { certificate: new X509Certificate(pairFor(names).cert), problem };
}

describe("a caller with a certificate", () => {
  test("is the one that its name stands for, in the role of the first line that fits", () => {
    const { call } = ground({
      "ci.example": "operator",
      "spiffe://corp/agents/*": "agent",
      "10.1.0.5": "viewer",
      "*.example": "agent",
    });
    expect(call(presented(["ci.example"]))).toMatchObject({
      name: "cert:ci.example",
      kind: "service",
      roles: ["operator"],
    });
    const both = presented(["x.example", "CI.example"]);
    expect(call(both)).toMatchObject({ name: "cert:ci.example", roles: ["operator"] });
    expect(call(presented(["x.example"]))).toMatchObject({ name: "cert:x.example" });
    const spiffe = presented(["spiffe://corp/agents/7"]);
    expect(call(spiffe)).toMatchObject({ name: "cert:spiffe://corp/agents/7", roles: ["agent"] });
    expect(call(presented(["10.1.0.5"]))).toMatchObject({ roles: ["viewer"] });
  });

  test("that has no name of ours, or that nobody vouches for, is refused, token or not", () => {
    const { call } = ground({ "ci.example": "operator" });
    const unknown = /none of its names is in tls_clients \(x\.example\)/;
    const unsigned = /the certificate of the client is refused: self-signed/;
    for (const headers of [{}, { authorization: "Bearer x" }]) {
      expect(() => call(presented(["x.example"]), headers)).toThrow(unknown);
      expect(() => call(presented(["ci.example"], "self-signed"), headers)).toThrow(unsigned);
      expect(() => call(presented(["ci.example.evil"]), headers)).toThrow("none of its names");
    }
  });

  test("and with a token is the token's", () => {
    const { call } = ground({ "ci.example": "viewer" });
    expect(call(presented(["ci.example"]), { authorization: "Bearer x" })).toBe(LOCAL);
  });

  test("is refused from the moment that the certificate is over, on an open connection too", () => {
    const { clock, door } = ground({ "ci.example": "viewer" });
    const untilMs = Date.now() + DAY_MS;
    const tls = presented(["ci.example"]);
    const peer = { address: "192.0.2.7", ends: undefined, isOwnSocket: false, tls };
    const call = () =>
      door.authenticate({ peer, wire: "http", header: () => undefined, headerNames: () => [] });
    expect(call()).toMatchObject({ name: "cert:ci.example" });
    clock.wallMs = () => untilMs + DAY_MS;
    expect(call).toThrow("it is out of date");
  });

  test("is cut within a second when the certificate is over, whatever is open then", async () => {
    const { clock, door, step } = ground({ "ci.example": "viewer" });
    clock.stepWall(Date.now() - clock.wallMs());
    const tls = presented(["ci.example"]);
    const socket = new Socket();
    const peer = { address: "192.0.2.7", ends: undefined, isOwnSocket: false, tls, socket };
    await door.authenticate({ peer, wire: "http", header: () => undefined, headerNames: () => [] });
    const leftMs = Date.parse(tls.certificate?.validTo ?? "") - clock.wallMs();
    clock.stepWall(leftMs - 2_000);
    await clock.advance(1_900);
    expect(socket.destroyed).toBe(false);
    await clock.advance(1_100);
    expect(socket.destroyed).toBe(true);
    step.close();
  });
});

test("a caller without a certificate is known by something else, or not at all", () => {
  const { call } = ground({ "ci.example": "viewer" });
  const none = { certificate: undefined, problem: "" };
  expect(call(none, { authorization: "Bearer x" })).toBe(LOCAL);
  expect(() => call(none)).toThrow("presents no token");
});
