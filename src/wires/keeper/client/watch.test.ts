import { create, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, test, vi } from "vitest";
import { codeOf } from "../../../core/errors.ts";
import { framed } from "../../../net/grpc/frames.ts";
import {
  answer,
  headersOnly,
  serveScript,
  type Script,
} from "../../../../test/support/grpc/server.ts";
import { EventSchema, LeaseSchema } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { connect } from "./keeper.ts";
import type { KeeperWatchItem } from "./events.ts";
import type { KeeperWatchOptions, WatchState } from "./watch.ts";

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

function event(sequence: number, topic = "lease.acquired"): Uint8Array {
  const lease = create(LeaseSchema, { taskId: `t${sequence}`, token: { value: BigInt(sequence) } });
  const message = create(EventSchema, {
    topic,
    sequenceNumber: BigInt(sequence),
    occurredAt: { seconds: 1_700_000_000n, nanos: 500_000_000 },
    payload: anyPack(LeaseSchema, lease),
  });
  return toBinary(EventSchema, message);
}

/** A connection that tells where it starts, says these, and then ends so. */
function connection(
  sequences: readonly number[],
  end: Readonly<Record<string, string>> | "stays" = { "grpc-status": "14" },
  head?: number,
): Script {
  return (stream) => {
    const told = head === undefined ? {} : { "rollcall-sequence": String(head) };
    const opening = { ":status": 200, "content-type": "application/grpc", ...told };
    stream.respond(opening, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers(end === "stays" ? {} : end));
    for (const sequence of sequences) stream.write(framed(event(sequence)));
    if (end !== "stays") stream.end();
  };
}

async function watching(scripts: readonly Script[], options: KeeperWatchOptions = {}) {
  const server = await serveScript(scripts);
  const keeper = connect({ address: server.address, limits: { firstRetryMs: 1, lastRetryMs: 2 } });
  cleanups.push(
    () => server.close(),
    () => keeper.close(),
  );
  const states: WatchState[] = [];
  const watch = keeper.watch({ onState: (state) => states.push(state), ...options });
  return { server, keeper, watch, states };
}

async function take(
  count: number,
  watch: AsyncIterable<KeeperWatchItem>,
): Promise<KeeperWatchItem[]> {
  const items: KeeperWatchItem[] = [];
  for await (const item of watch) {
    items.push(item);
    if (items.length === count) break;
  }
  return items;
}

function places(items: readonly KeeperWatchItem[]): readonly unknown[] {
  return items.map((item) => (item.kind === "resync" ? "resync" : item.sequence));
}

test("an event comes typed by its topic, with what it is about", async () => {
  const { watch } = await watching([connection([7], "stays")], { topics: ["lease."] });
  expect(await take(1, watch)).toEqual([
    {
      kind: "event",
      topic: "lease.acquired",
      sequence: 7,
      atMs: 1_700_000_000_500,
      lease: { taskId: "t7", holder: "", token: 7, acquiredAtMs: 0, expiresAtMs: 0 },
    },
  ]);
});

test("an event of a topic that is not known is told all the same", async () => {
  const script: Script = (stream) => {
    stream.respond({ ":status": 200, "content-type": "application/grpc" });
    stream.write(framed(event(3, "moon.rose")));
  };
  const { watch } = await watching([script]);
  const atMs = 1_700_000_000_500;
  expect(await take(1, watch)).toEqual([{ kind: "other", topic: "moon.rose", sequence: 3, atMs }]);
});

describe("a connection that is lost", () => {
  test.each([
    ["because the daemon goes", { "grpc-status": "14" }],
    ["because we were too slow", { "grpc-status": "8", "rollcall-code": "SLOW_CONSUMER" }],
    ["because we were too slow, says a daemon without our codes", { "grpc-status": "8" }],
    ["without a reason", { "grpc-status": "0" }],
  ])("%s goes on after the last event, without a gap or a duplicate", async (_why, end) => {
    const { server, watch, states } = await watching(
      [connection([1, 2], end), connection([2, 3], end), connection([4], "stays")],
      { from: 0 },
    );
    expect(places(await take(4, watch))).toEqual([1, 2, 3, 4]);
    expect(server.calls.map((call) => call["rollcall-from-sequence"])).toEqual(["0", "2", "3"]);
    expect(states.map(({ kind }) => kind)).toEqual(["open", "lost", "open", "lost", "open"]);
  });

  test("before the first event goes on from where it started", async () => {
    const { server, watch } = await watching([
      connection([], { "grpc-status": "14" }, 41),
      connection([42], "stays"),
    ]);
    expect(places(await take(1, watch))).toEqual([42]);
    expect(server.calls.map((call) => call["rollcall-from-sequence"])).toEqual([undefined, "41"]);
  });

  test("in the middle of a message loses nothing", async () => {
    const half: Script = (stream) => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" });
      stream.write(framed(event(1)));
      stream.write(framed(event(2)).subarray(0, 9), () => stream.session?.destroy());
    };
    const { watch } = await watching([half, connection([2], "stays")], { from: 0 });
    expect(places(await take(2, watch))).toEqual([1, 2]);
  });
});

test.each([
  ["in its first words", headersOnly({ "grpc-status": 11 })],
  ["later", connection([], { "grpc-status": "11" })],
])("a log that no longer reaches back, told %s, is one resync", async (_when, gone) => {
  const { server, watch } = await watching([gone, connection([91], "stays", 90)], { from: 5 });
  expect(await take(2, watch)).toMatchObject([
    { kind: "resync", after: 5, sequence: 90 },
    { kind: "event", sequence: 91 },
  ]);
  expect(server.calls.map((call) => call["rollcall-from-sequence"])).toEqual(["5", undefined]);
});

test.each([
  ["refused", headersOnly({ "grpc-status": 7, "grpc-message": "no" }), "PERMISSION_DENIED"],
  ["garbage", answer([Buffer.from([255, 255])]), "INTERNAL"],
])("what is %s is told to whoever reads", async (_what, script, code) => {
  const { watch } = await watching([script]);
  const error: unknown = await take(1, watch).catch((reason: unknown) => reason);
  expect(codeOf(error)).toBe(code);
});

test("what happens after ready is not missed, though nobody reads yet", async () => {
  const { server, watch } = await watching([connection([1], "stays", 0)]);
  await watch.ready();
  expect(server.calls).toHaveLength(1);
  expect(places(await take(1, watch))).toEqual([1]);
});

test("stopping ends it quietly and at once, and the daemon hears of it", async () => {
  const stop = new AbortController();
  const gone = vi.fn();
  const script: Script = (stream, headers) => {
    stream.on("aborted", gone);
    connection([1], "stays")(stream, headers);
  };
  const { watch } = await watching([script], { signal: stop.signal });
  const seen: KeeperWatchItem[] = [];
  for await (const item of watch) {
    seen.push(item);
    queueMicrotask(() => stop.abort());
  }
  expect(places(seen)).toEqual([1]);
  await vi.waitFor(() => expect(gone).toHaveBeenCalled());
});
