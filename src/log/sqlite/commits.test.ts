import { expect, test } from "vitest";
import { RollcallError } from "../../core/errors.ts";
import { gate, rejects } from "../../../test/support/log/conformance-case.ts";
import { Commits, encodeEntries } from "./commits.ts";
import { WAITING_BYTES, type Commit, type Committed } from "./protocol.ts";

/** A disk that writes when it is told to, and what it was given. */
function slowDisk() {
  const given: string[][] = [];
  const writes: { readonly finish: () => void; readonly fail: (error: Error) => void }[] = [];
  const write = (commit: Commit) =>
    new Promise<Committed>((resolve, reject) => {
      given.push([...(commit.log ? ["log"] : []), ...commit.streams.map(({ stream }) => stream)]);
      const positions = commit.streams.map(({ count }) => count);
      const finish = () => resolve({ isFenced: false, head: 0, positions });
      writes.push({ finish, fail: reject });
    });
  return { given, writes, commits: new Commits(write) };
}

const full = new RollcallError("STORAGE_FULL", "no room");

test("what arrives during a commit is written by the next one, all of it", async () => {
  const { given, writes, commits } = slowDisk();
  const first = commits.appendToStream("a", ["1"]);
  await Promise.resolve();
  const others = [
    commits.appendToStream("a", ["2", "3"]),
    commits.appendToStream("b", ["1"]),
    commits.appendToStream("a", ["4"]),
  ];
  const append = commits.appendToLog(encodeEntries(["event"]), 0);
  expect(given).toEqual([["a"]]);
  writes[0]?.finish();
  expect(await first).toBe(1);
  writes[1]?.finish();
  expect(await Promise.all(others)).toEqual([2, 1, 3]);
  await append;
  expect(given).toEqual([["a"], ["log", "a", "b"]]);
});

test("what waits behind an append that failed fails too, on that stream only", async () => {
  const { given, writes, commits } = slowDisk();
  const failing = commits.appendToStream("a", ["1"]);
  await Promise.resolve();
  const behind = commits.appendToStream("a", ["2"]);
  const other = commits.appendToStream("b", ["1"]);
  writes[0]?.fail(full);
  await rejects("STORAGE_FULL", failing);
  await rejects("STORAGE_FULL", behind);
  writes[1]?.finish();
  expect(await other).toBe(1);
  expect(given).toEqual([["a"], ["b"]]);
});

test("an append to several streams fails whole, with all that waits behind it", async () => {
  const { given, writes, commits } = slowDisk();
  const failing = commits.appendToStream("a", ["1"]);
  await Promise.resolve();
  const several = commits.appendToStreams([
    { stream: "a", entries: ["2"] },
    { stream: "b", entries: ["1"] },
  ]);
  const behind = commits.appendToStream("b", ["2"]);
  const other = commits.appendToStream("c", ["1"]);
  writes[0]?.fail(full);
  for (const each of [failing, several, behind]) await rejects("STORAGE_FULL", each);
  writes[1]?.finish();
  expect(await other).toBe(1);
  expect(given).toEqual([["a"], ["c"]]);
});

test("a second append to the log that would wait is refused", async () => {
  const { writes, commits } = slowDisk();
  const first = commits.appendToLog(encodeEntries(["1"]), 0);
  await rejects("WRONG_STATE", commits.appendToLog(encodeEntries(["2"]), 1));
  writes[0]?.finish();
  await first;
});

test("what waits to be written is bounded, and the room comes back", async () => {
  const { writes, commits } = slowDisk();
  const half = "x".repeat(WAITING_BYTES / 2);
  const first = commits.appendToStream("a", [half]);
  await Promise.resolve();
  const second = commits.appendToStream("a", [half]);
  await rejects("LIMIT_EXCEEDED", commits.appendToStream("b", ["one more"]));
  writes[0]?.finish();
  await first;
  const third = commits.appendToStream("b", ["fits now"]);
  writes[1]?.fail(full);
  await rejects("STORAGE_FULL", second);
  writes[2]?.finish();
  expect(await third).toBe(1);
});

test("settled means that all that was asked for before is written or refused", async () => {
  const { writes, commits } = slowDisk();
  const written = commits.appendToStream("a", ["1"]);
  await Promise.resolve();
  const refused = commits.appendToStream("b", ["1"]);
  const order: string[] = [];
  const reached = gate();
  void commits.settled().then(() => {
    order.push("settled");
    reached.open();
  });
  writes[0]?.finish();
  await written;
  order.push("written");
  writes[1]?.fail(full);
  await rejects("STORAGE_FULL", refused);
  order.push("refused");
  await reached.opened;
  expect(order).toEqual(["written", "refused", "settled"]);
});
