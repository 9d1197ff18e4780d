import { describe, expect, test } from "vitest";
import { judgeFor } from "./addresses.ts";

const OPEN = [
  "93.184.216.34",
  "8.8.8.8",
  "2606:2800:220:1::1",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
];

const LOOPBACK = ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1", "::ffff:7f00:1"];

const INSIDE = [
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "100.127.255.255",
  "169.254.1.1",
  "192.0.0.8",
  "198.18.0.1",
  "240.0.0.1",
  "fc00::1",
  "fd12:3456::1",
  "fe80::1",
  "fec0::1",
  "::ffff:10.0.0.1",
  "::ffff:a00:1",
  "64:ff9b::10.0.0.1",
  "64:ff9b::a00:1",
  // Compatible, translated, local NAT64, 6to4 and Teredo: ways to write or reach 10.0.0.1.
  "::10.0.0.1",
  "::ffff:0:10.0.0.1",
  "64:ff9b:1::a00:1",
  "2002:a00:1::1",
  "2001::f5ff:fffe",
  "2001:db8::1",
  "4000::1",
];

const FORBIDDEN = [
  "0.0.0.0",
  "0.1.2.3",
  "::",
  "::ffff:0.0.0.0",
  "64:ff9b::",
  "224.0.0.1",
  "239.255.255.250",
  "255.255.255.255",
  "ff02::1",
];

const METADATA = [
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "fd00:ec2::254",
];

const NO_ADDRESS = ["", "localhost", "fe80::1%eth0", "::1%lo", "127.1", "0x7f000001", "1.2.3.4:80"];

describe("without a word from the operator", () => {
  const judge = judgeFor({});

  test.each(OPEN)("%s may be dialled", (address) => {
    expect(judge(address)).toBeUndefined();
  });

  const refused = [...LOOPBACK, ...INSIDE, ...FORBIDDEN, ...METADATA, ...NO_ADDRESS];
  test.each(refused)("%s may not", (address) => {
    expect(judge(address)).toEqual(expect.any(String));
  });
});

test("loopback may be dialled where that is allowed, and nothing else with it", () => {
  const judge = judgeFor({ allowsLoopback: true });
  expect(LOOPBACK.filter((address) => judge(address) !== undefined)).toEqual([]);
  const others = [...INSIDE, ...FORBIDDEN, ...METADATA];
  expect(others.filter((address) => judge(address) === undefined)).toEqual([]);
});

test("a range of the operator opens what lies in it, however it is written", () => {
  const judge = judgeFor({ allowed: ["10.0.0.0/8", "fd12::/16"] });
  for (const address of ["10.0.0.1", "::ffff:10.0.0.1", "64:ff9b::a00:1", "fd12::1"]) {
    expect(judge(address)).toBeUndefined();
  }
  expect(judge("192.168.1.1")).toBeDefined();
  expect(judge("fd13::1")).toBeDefined();
});

test("no range opens a metadata service, a group or nobody", () => {
  const wide = judgeFor({ allowed: ["0.0.0.0/0", "::/0"] });
  for (const address of [...METADATA, ...FORBIDDEN]) expect(wide(address)).toBeDefined();
  const named = judgeFor({ allowed: ["169.254.169.254"] });
  expect(named("169.254.169.254")).toBeUndefined();
  expect(named("169.254.169.253")).toBeDefined();
});

test.each(["10.0.0.0/33", "10.0.0.0/", "ten", "10.0.0/8", "::/129", "10.0.0.0/8/8x"])(
  "the range %s is refused by its name",
  (range) => {
    expect(() => judgeFor({ allowed: [range] })).toThrow(`${range} is not a range of addresses`);
  },
);
