import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Row } from "../fleet/row.ts";
import type { FleetList } from "../wires/api/answers.ts";
import type { StreamItem } from "../wires/api/client/events.ts";
import { RollcallError } from "../core/errors.ts";
import type { Policy } from "../core/policies.ts";
import type { Context } from "./context.ts";
import { oneLineView } from "./fleet/show.ts";
import { daemonFleet } from "./fleet/source.ts";
import { daemonList, type ListSpec } from "./listing.ts";
import { Output, type Sink } from "./terminal/output.ts";
import { watchList } from "./watching.ts";

const LISTING: ListSpec<Policy> = {
  operation: "policies.list",
  input: {},
  noun: "policies",
  topics: ["policy."],
  columns: [
    { title: "ID", cell: ({ id }) => id },
    { title: "EFFECT", cell: ({ effect }) => effect },
  ],
  key: ({ id }) => id,
  nothing: "no policies",
};

const ESC = "\u001b";

/** A daemon of which the test says what it has, and when something happens. */
function fakeDaemon() {
  const state = { policies: [] as Policy[], fetches: 0, isDown: false, asked: "" };
  let wake: () => void = () => undefined;
  return {
    state,
    url: "http://x",
    happen: () => wake(),
    get: async (path: string) => {
      state.fetches += 1;
      state.asked = path;
      if (state.isDown) throw new RollcallError("UNAVAILABLE", "no daemon");
      return { sequence: 7, total: state.policies.length, policies: state.policies };
    },
    async *events({ signal }: { signal?: AbortSignal } = {}): AsyncGenerator<StreamItem> {
      signal?.addEventListener("abort", () => wake());
      while (signal?.aborted !== true) {
        await new Promise<void>((resolve) => (wake = resolve));
        yield { kind: "resync", after: 0, sequence: 1 };
      }
    },
  };
}

function fakeTerminal(isTTY: boolean) {
  const written: string[] = [];
  let press: (key: string) => void = () => undefined;
  let isListening = false;
  const sink = {
    isTTY,
    columns: 40,
    rows: 6,
    write: (text: string, done?: () => void) => {
      written.push(text);
      done?.();
      return true;
    },
  } satisfies Sink;
  const interrupted = new AbortController();
  const context: Context = {
    process: { stdout: sink, stderr: sink },
    out: new Output(sink, {}),
    err: new Output({ ...sink, isTTY: false }, {}),
    env: {},
    untilInterrupted: () => interrupted.signal,
    listenForKeys: (pressed) => {
      press = pressed;
      isListening = true;
      return () => (isListening = false);
    },
    endWith: () => undefined,
  };
  return {
    context,
    written,
    interrupt: () => interrupted.abort(),
    press: (key: string) => press(key),
    isListening: () => isListening,
  };
}

function policy(id: string): Policy {
  return { id, subject: "s", action: "a", resource: "r", effect: "allow" };
}

test("a screen shows what happens, and q gives the terminal back as it was", async () => {
  const daemon = fakeDaemon();
  const terminal = fakeTerminal(true);
  const { context, written } = terminal;
  const flags = { limit: 1_000, watch: true };
  const watching = watchList({
    context,
    source: daemonList(daemon, LISTING),
    look: LISTING,
    flags,
  });
  await vi.waitFor(() => expect(written.join("")).toContain("no policies"));
  // No more is asked for than the screen holds.
  expect(daemon.state.asked).toBe("/v1/policies?limit=3");
  daemon.state.policies = ["one", "two", "three", "four"].map(policy);
  daemon.happen();
  await vi.waitFor(() => expect(written.at(-1)).toContain("4 policies at http://x"));
  expect(written.at(-1)).toContain("three  allow");
  daemon.state.policies = [policy("one")];
  daemon.happen();
  await vi.waitFor(() => expect(written.at(-1)).toContain("1 policy at http://x"));
  terminal.press("x");
  terminal.press("q");
  await watching;
  expect(written.at(-1)).toBe(`${ESC}[?7h${ESC}[?25h${ESC}[?1049l`);
  expect(terminal.isListening()).toBe(false);
});

test("a storm of events costs ten looks a second, and the last one is seen", async () => {
  const daemon = fakeDaemon();
  const { context, written, interrupt } = fakeTerminal(false);
  const flags = { limit: 1_000, watch: true, json: true };
  const startedAt = performance.now();
  const watching = watchList({
    context,
    source: daemonList(daemon, LISTING),
    look: LISTING,
    flags,
  });
  await vi.waitFor(() => expect(daemon.state.fetches).toBe(1));
  for (let i = 0; i < 500; i += 1) {
    daemon.state.policies = [policy(`p${i}`)];
    daemon.happen();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await vi.waitFor(() => expect(written.at(-1)).toContain('"id":"p499"'));
  const seconds = (performance.now() - startedAt) / 1000;
  expect(daemon.state.fetches).toBeLessThanOrEqual(2 + seconds * 10);
  interrupt();
  await watching;
});

test("in a pipe a row that changed is told with the lines that nest below it", async () => {
  const daemon = fakeDaemon();
  const { context, written, interrupt } = fakeTerminal(false);
  daemon.state.policies = [policy("one"), policy("two")];
  const below = ({ id, subject }: Policy) => [[`└ ${id} ${subject}`]];
  const watching = watchList({
    context,
    source: daemonList(daemon, LISTING),
    look: { ...LISTING, below },
    flags: { limit: 1_000, watch: true },
  });
  const told = () => written.join("").replaceAll(/^[\d:]{8}/gm, "00:00:00");
  await vi.waitFor(() => expect(told()).toContain("two"));
  daemon.state.policies = [policy("one"), { ...policy("two"), subject: "t" }];
  daemon.happen();
  await vi.waitFor(() => expect(told()).toContain("changed"));
  interrupt();
  await watching;
  expect(told()).toBe(
    [
      "                  ID       EFFECT",
      "00:00:00 is       one      allow",
      "                  └ one s",
      "00:00:00 is       two      allow",
      "                  └ two s",
      "00:00:00 changed  two      allow",
      "                  └ two t",
      "",
    ].join("\n"),
  );
});

describe("what time alone changes is told without an event", () => {
  beforeEach(() => vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => vi.useRealTimers());

  test.each([
    ["in a pipe", {}, "changed"],
    ["with --json", { json: true }, '"effect":"deny"'],
  ])("%s", async (_, how, wanted) => {
    const daemon = fakeDaemon();
    const { context, written, interrupt } = fakeTerminal(false);
    daemon.state.policies = [policy("one")];
    const flags = { limit: 1_000, watch: true, ...how };
    const source = daemonList(daemon, LISTING);
    const watching = watchList({ context, source, look: LISTING, flags });
    await vi.advanceTimersByTimeAsync(20_000);
    const told = written.length;
    expect(daemon.state.fetches).toBeLessThanOrEqual(5);
    daemon.state.policies = [{ ...policy("one"), effect: "deny" }];
    await vi.advanceTimersByTimeAsync(6_000);
    expect(written.slice(told).join("")).toContain(wanted);
    interrupt();
    await watching;
  });

  test("in the line of a status bar", async () => {
    const { context, written, interrupt } = fakeTerminal(false);
    const none = { "NEEDS YOU": 0, PROBLEM: 0, WORKING: 0, IDLE: 0, GONE: 0 };
    let counts: FleetList["counts"] = { ...none, WORKING: 1 };
    const daemon = fakeDaemon();
    const watching = watchList<Row, FleetList>({
      context,
      source: {
        place: "http://x",
        fetch: async () => ({
          sequence: 7,
          total: 1,
          items: [],
          answer: { sequence: 7, atMs: 0, counts, total: 1, rows: [] },
        }),
        changes: (options) => daemon.events(options),
      },
      look: { noun: "agents", columns: [], key: ({ id }) => id, nothing: "" },
      flags: { limit: 1, watch: true },
      view: () => oneLineView(context),
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(written).toEqual(["1 working\n"]);
    // It hangs: nothing comes of it any more.
    counts = { ...none, PROBLEM: 1 };
    await vi.advanceTimersByTimeAsync(6_000);
    expect(written).toEqual(["1 working\n", "1 problem\n"]);
    interrupt();
    await watching;
  });
});

test("a machine that falls silent and an agent of the directory change rows at once", async () => {
  let asked: readonly string[] = [];
  const daemon = fakeDaemon();
  const fleet = daemonFleet({
    ...daemon,
    events({ topics = [], ...options } = {}) {
      asked = topics;
      return daemon.events(options);
    },
  });
  const signal = AbortSignal.abort();
  for await (const _ of fleet.changes({ from: 0, signal, onState: () => undefined }));
  for (const topic of ["outpost.silent", "directory.registered", "fleet.reported"]) {
    expect(asked.some((beginning) => topic.startsWith(beginning))).toBe(true);
  }
});

test("while the daemon is away what was shown stays, and what cannot pass ends it", async () => {
  const daemon = fakeDaemon();
  const { context, written } = fakeTerminal(true);
  daemon.state.policies = [policy("kept")];
  const flags = { limit: 1_000, watch: true };
  const watching = watchList({
    context,
    source: daemonList(daemon, LISTING),
    look: LISTING,
    flags,
  });
  watching.catch(() => undefined);
  await vi.waitFor(() => expect(written.join("")).toContain("kept"));
  daemon.state.isDown = true;
  daemon.happen();
  await vi.waitFor(() => expect(daemon.state.fetches).toBeGreaterThan(1));
  daemon.get = async () => {
    throw new RollcallError("PERMISSION_DENIED", "not for you");
  };
  daemon.happen();
  await expect(watching).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(written.at(-1)).toBe(`${ESC}[?7h${ESC}[?25h${ESC}[?1049l`);
});
