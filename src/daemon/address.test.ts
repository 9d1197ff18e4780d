import { describe, expect, test } from "vitest";
import { isLoopback } from "../net/loopback.ts";
import { formatAddress, isWide, parseAddress } from "./address.ts";

describe("an address", () => {
  test.each([
    ["127.0.0.1:7070", "127.0.0.1", 7070],
    [":7070", "127.0.0.1", 7070],
    ["localhost:0", "localhost", 0],
    ["[::1]:9090", "::1", 9090],
    ["0.0.0.0:65535", "0.0.0.0", 65_535],
    ["Host-1.example:80", "host-1.example", 80],
  ])("%s is a host and a port", (text, host, port) => {
    expect(parseAddress(text)).toEqual({ host, port });
  });

  test.each([
    "",
    "7070",
    "host",
    "host:",
    "host:x",
    ":65536",
    ":-1",
    "::1:7070",
    "[::1]",
    "[host]:1",
    "[127.0.0.1]:1",
    "a b:1",
    "http://host:1",
    "host:1/path",
    "-host:1",
    "256.0.0.0.:1",
  ])("%j is refused", (text) => {
    expect(() => parseAddress(text)).toThrow("expected HOST:PORT");
  });

  test("is written as it is read", () => {
    for (const text of ["127.0.0.1:7070", "[::1]:9090"]) {
      expect(formatAddress(parseAddress(text))).toBe(text);
    }
  });

  test("of a peer on this machine is loopback, mapped or not; nothing else is", () => {
    for (const peer of ["127.0.0.1", "127.9.8.7", "::1", "::ffff:127.0.0.1"]) {
      expect(isLoopback(peer)).toBe(true);
    }
    const strangers = ["10.0.0.1", "::ffff:10.0.0.1", "::2", "127.0.0.1.evil.com", "", undefined];
    for (const peer of strangers) expect(isLoopback(peer)).toBe(false);
  });

  test("that others can reach is wide", () => {
    expect(isWide(parseAddress("0.0.0.0:1"))).toBe(true);
    expect(isWide(parseAddress("[::]:1"))).toBe(true);
    expect(isWide(parseAddress("localhost:1"))).toBe(false);
    expect(isWide(parseAddress("[::1]:1"))).toBe(false);
  });
});
