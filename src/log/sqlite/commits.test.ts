import { expect, test } from "vitest";
import { RollcallError } from "../../core/errors.ts";
import { rejects } from "../../../test/support/log/conformance-case.ts";
import { Commits } from "./commits.ts";
import { WAITING_BYTES, type Append, type Commit, type AppendOutcome } from "./protocol.ts";

/** A disk that writes when it is told to, and what it was given. */
function slowDisk() {
  const given: string[][] = [];
  const writes: { readonly finish: () => void; readonly fail: (error: Error) => void }[] = [];
  const heads = new Map<string, number>();
  const outcome = ({ streams: { names, counts } }: Append): AppendOutcome => ({
    heads: names.map((stream, index) => {
      heads.set(stream, (heads.get(stream) ?? 0) + (counts[index] ?? 0));
      return heads.get(stream) ?? 0;
    }),
  });
  const commits = new Commits(
    (commit) =>
      new Promise((resolve, reject) => {
        given.push(namesIn(commit));
        const result = () => ({ outcomes: commit.appends.map(outcome), isUnswept: false });
        writes.push({ finish: () => resolve(result()), fail: reject });
      }),
  );
  const append = async (stream: string, ...entries: string[]) =>
    (await commits.append({ entries: [], streams: [{ stream, entries }] }))[0];
  return { given, writes, commits, append };
}

function namesIn({ appends, forgets }: Commit): string[] {
  return [
    ...appends.flatMap(({ at, streams: { names } }) => [
      ...(at === undefined ? [] : ["log"]),
      ...names,
    ]),
    ...forgets.flatMap(({ streams, through }) =>
      streams.map((stream) => (through ? `trim ${stream}` : `remove ${stream}`)),
    ),
  ];
}

function endOfTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const full = new RollcallError("STORAGE_FULL", "no room");

test("what arrives during a commit is written by the next one, in order, all of it", async () => {
  const { given, writes, commits, append } = slowDisk();
  const first = append("a", "1");
  await Promise.resolve();
  const others = [append("a", "2", "3"), append("b", "1"), append("a", "4")];
  const toStream = { stream: "c", entries: ["1"] };
  const event = commits.append({ entries: ["event"], streams: [toStream] }, { head: 0, id: "1" });
  const after = [
    commits.forget({ streams: ["a"], through: 2 }),
    commits.forget({ streams: ["b"], through: undefined }),
  ];
  expect(given).toEqual([["a"]]);
  writes[0]?.finish();
  expect(await first).toBe(1);
  writes[1]?.finish();
  expect(await Promise.all(others)).toEqual([3, 1, 4]);
  await Promise.all([event, ...after]);
  expect(given).toEqual([["a"], ["a", "b", "a", "log", "c", "trim a", "remove b"]]);
});

test("what waits behind an append that failed fails too, on that stream only", async () => {
  const { given, writes, append } = slowDisk();
  const failing = append("a", "1");
  await Promise.resolve();
  const behind = append("a", "2");
  const other = append("b", "1");
  writes[0]?.fail(full);
  await rejects("STORAGE_FULL", failing);
  await rejects("STORAGE_FULL", behind);
  writes[1]?.finish();
  expect(await other).toBe(1);
  expect(given).toEqual([["a"], ["b"]]);
});

test("an append to several streams fails whole, with all that waits behind it", async () => {
  const { given, writes, commits, append } = slowDisk();
  const failing = append("a", "1");
  await Promise.resolve();
  const parts = [
    { stream: "a", entries: ["2"] },
    { stream: "b", entries: ["1"] },
  ];
  const several = commits.append({ entries: [], streams: parts });
  const behind = append("b", "2");
  const other = append("c", "1");
  writes[0]?.fail(full);
  for (const each of [failing, several, behind]) await rejects("STORAGE_FULL", each);
  writes[1]?.finish();
  expect(await other).toBe(1);
  expect(given).toEqual([["a"], ["c"]]);
});

test("forgetting very many streams does not hold up an append", async () => {
  const { given, writes, commits, append } = slowDisk();
  const forgets = Array.from({ length: 2000 }, (_, index) =>
    commits.forget({ streams: [`old ${index}`], through: undefined }),
  );
  await endOfTurn();
  const appended = append("a", "1");
  writes[0]?.finish();
  await forgets[0];
  writes[1]?.finish();
  expect(await appended).toBe(1);
  expect(given.map((names) => names.length)).toEqual([512, 513, 512]);
  for (let index = 2; index < 4; index += 1) {
    writes[index]?.finish();
    await forgets[index * 512];
  }
  await Promise.all(forgets);
  expect(new Set(given.flat()).size).toBe(2001);
});

test("what is forgotten goes along with an append of the same turn of the loop", async () => {
  const { given, writes, commits, append } = slowDisk();
  const forgotten = commits.forget({ streams: ["old"], through: undefined });
  await Promise.resolve();
  const appended = append("a", "1");
  await endOfTurn();
  writes[0]?.finish();
  expect(await appended).toBe(1);
  await forgotten;
  expect(given).toEqual([["a", "remove old"]]);
});

test("what waits to be written is bounded, and the room comes back", async () => {
  const { writes, append } = slowDisk();
  const half = "x".repeat(WAITING_BYTES / 2);
  const first = append("a", half);
  await Promise.resolve();
  const second = append("a", half);
  await rejects("LIMIT_EXCEEDED", append("b", "one more"));
  writes[0]?.finish();
  await first;
  const third = append("b", "fits now");
  writes[1]?.fail(full);
  await rejects("STORAGE_FULL", second);
  writes[2]?.finish();
  expect(await third).toBe(1);
});

test("settled means that all that was called before is written or refused", async () => {
  const { writes, commits, append } = slowDisk();
  const order: string[] = [];
  const note = (what: string) => () => void order.push(what);
  const written = append("a", "1").then(note("written"));
  await Promise.resolve();
  const refused = append("b", "1").catch(note("refused"));
  const settled = commits.settled().then(note("settled"));
  writes[0]?.finish();
  await written;
  writes[1]?.fail(full);
  await Promise.all([refused, settled]);
  expect(order).toEqual(["written", "refused", "settled"]);
});

test("settled does not wait for what is called after it, though appends never pause", async () => {
  const { given, writes, commits, append } = slowDisk();
  void append("a", "1");
  await Promise.resolve();
  void append("a", "2");
  const settled = commits.settled();
  writes[0]?.finish();
  await Promise.resolve();
  // The second commit is under way, and there is always another one waiting.
  const rest = append("a", "3");
  writes[1]?.finish();
  await settled;
  expect(given).toEqual([["a"], ["a"], ["a"]]);
  writes[2]?.finish();
  await rest;
});
