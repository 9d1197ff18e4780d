import { expect, test } from "vitest";
import { lineOf, type Result } from "../measure.ts";
import { readMeasures } from "./measures.ts";

const END = "\nall targets met\n";

/** As commits print that never heard of `--against`. */
const OLD = `
installing h2load…
     jobs, durable                                                          4,103 /s
       bare ws, canned frames                                               9,870 /s
ok       against it                                                          0.416 ×   at least 0.4
ok   submit to accepted, all of them at work, p99                             181 ms   at most 4,210
       p50                                                                   93.2 ms
     submit to accepted, one job at a time, p99                               3.1 ms
       p50                                                                   1.25 ms
MISS a daemon that watches 10,000 files, idle                        1.2 % of a core   at most 1
ok   calls that failed                                                             0   exactly 0

1 targets missed
`;

function one(result: Result) {
  return readMeasures(lineOf(result) + END)[0];
}

test("a measure is known by the names of those it belongs to", () => {
  expect(readMeasures(OLD).map(({ name, value, unit }) => [name, value, unit])).toEqual([
    ["jobs, durable", 4103, "/s"],
    ["jobs, durable: bare ws, canned frames", 9870, "/s"],
    ["jobs, durable: bare ws, canned frames: against it", 0.416, "×"],
    ["submit to accepted, all of them at work, p99", 181, "ms"],
    ["submit to accepted, all of them at work, p99: p50", 93.2, "ms"],
    ["submit to accepted, one job at a time, p99", 3.1, "ms"],
    ["submit to accepted, one job at a time, p99: p50", 1.25, "ms"],
    ["a daemon that watches 10,000 files, idle", 1.2, "% of a core"],
    ["calls that failed", 0, ""],
  ]);
});

test("what was promised says which value is better, else the unit", () => {
  expect(readMeasures(OLD).map(({ better }) => better)).toEqual([
    "higher",
    "higher",
    "higher",
    "lower",
    "lower",
    "lower",
    "lower",
    "lower",
    undefined,
  ]);
});

test.each([
  { name: `${"long ".repeat(15)}of 12 callers`, value: 1_234_567, unit: "commands/s" },
  { name: "added to a frame, median", value: -0.0123, unit: "ms" },
  { name: "start from it (2 agents, 3 leases)", value: 0.000_000_12, unit: "s" },
  { name: "processors the daemon kept busy", value: 0.5, unit: "" },
])("what report prints is read: $name", (result) => {
  expect(one(result)).toMatchObject(result);
});

test.each(["bare node", "cat: through", "etcd keepalive", "  the peer, p99", "  p99 of the peer"])(
  "%s is a yardstick, and no promise of ours",
  (name) => {
    expect(one({ name, value: 1, unit: "ms" })).toMatchObject({ isYardstick: true });
  },
);

test.each(["Heartbeat / etcd keepalive", "  against the peer", "proxy: through", "category"])(
  "%s is ours",
  (name) => {
    expect(one({ name, value: 1, unit: "×" })).toMatchObject({ isYardstick: false });
  },
);

test("a bench that broke off is no result", () => {
  expect(() => readMeasures(OLD.replace("1 targets missed", "Error: EADDRINUSE"))).toThrow(
    "did not come to its end",
  );
});
