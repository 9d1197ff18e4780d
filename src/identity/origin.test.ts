import { describe, expect, test } from "vitest";
import type { Caller, Peer } from "./caller.ts";
import { Origins } from "./origin.ts";

const FAR: Partial<Peer> = { address: "192.0.2.7" };

function caller(peer: Partial<Peer>, headers: Record<string, string> = {}): Caller {
  return {
    peer: { address: "127.0.0.1", ends: undefined, isOwnSocket: false, ...peer },
    wire: "http",
    header: (name) => headers[name],
    headerNames: () => Object.keys(headers),
  };
}

function ends(remoteAddress: string, localAddress: string): Pick<Peer, "address" | "ends"> {
  const ports = { remotePort: 1, localPort: 2 };
  return { address: remoteAddress, ends: { remoteAddress, localAddress, ...ports } };
}

describe("a call without a proxy", () => {
  test.each([
    ["loopback", { address: "127.0.0.9" }],
    ["loopback of IPv6", { address: "::1" }],
    ["the daemon's own socket", { address: undefined, isOwnSocket: true }],
    ["the machine's own address", ends("10.0.0.5", "10.0.0.5")],
  ])("by %s comes from here", (_, peer) => {
    expect(new Origins().of(caller(peer))).toMatchObject({ kind: "here", isPrivate: true });
  });

  test("from another address comes from there, and only TLS makes it private", () => {
    const origins = new Origins(["192.0.2.7"]);
    const there = { kind: "elsewhere", address: "192.0.2.7" };
    expect(origins.of(caller(FAR))).toMatchObject({ ...there, isPrivate: false });
    expect(origins.of(caller({ address: "::ffff:192.0.2.7" }))).toMatchObject(there);
    const tls = { certificate: undefined, problem: "" };
    expect(origins.of(caller({ ...FAR, tls }))).toMatchObject({ ...there, isPrivate: true });
  });
});

describe("a call through a proxy", () => {
  const names = ["forwarded", "via", "x-real-ip", "x-forwarded-for", "x-forwarded-proto"];

  test.each(names)("that shows by %s is hidden where the proxy is not trusted", (header) => {
    const headers = { [header]: "10.0.0.1" };
    const hidden = { kind: "hidden", address: "", header };
    expect(new Origins().of(caller({}, headers))).toMatchObject({ ...hidden, isPrivate: true });
    expect(new Origins().of(caller(FAR, headers))).toMatchObject({ ...hidden, isPrivate: false });
    const socket = { address: undefined, isOwnSocket: true };
    expect(new Origins().of(caller(socket, headers))).toMatchObject(hidden);
  });

  function clientBy(list: string, other: Record<string, string> = {}): string {
    const origins = new Origins(["127.0.0.1", "10.1.0.0/16"]);
    const headers = { "x-forwarded-for": list, ...other };
    const { kind, address, isPrivate } = origins.of(caller({}, headers));
    expect(isPrivate).toBe(true);
    return `${kind} ${address}`;
  }

  test("comes from the last address that is no trusted proxy", () => {
    expect(clientBy("192.0.2.7")).toBe("elsewhere 192.0.2.7");
    expect(clientBy("192.0.2.7, 10.1.0.3")).toBe("elsewhere 192.0.2.7");
    expect(clientBy("127.0.0.1, 198.51.100.1,10.1.9.9")).toBe("elsewhere 198.51.100.1");
    expect(clientBy("::ffff:192.0.2.7")).toBe("elsewhere 192.0.2.7");
    expect(clientBy("10.1.0.4, 10.1.0.3")).toBe("elsewhere 10.1.0.4");
    expect(clientBy("192.0.2.7", { forwarded: "for=127.0.0.1" })).toBe("elsewhere 192.0.2.7");
  });

  test("is never from here, even where the proxy says so", () => {
    expect(clientBy("127.0.0.1")).toBe("elsewhere 127.0.0.1");
  });

  test("is hidden where the proxy says nothing that is an address", () => {
    expect(clientBy("")).toBe("hidden ");
    expect(clientBy("unknown")).toBe("hidden ");
    expect(clientBy("192.0.2.7, _gazonk")).toBe("hidden ");
    const origins = new Origins(["127.0.0.1"]);
    expect(origins.of(caller({}, { "x-real-ip": "127.0.0.1" })).kind).toBe("hidden");
  });
});
