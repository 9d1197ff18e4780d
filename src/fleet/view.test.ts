import { asyncProperty, assert } from "fast-check";
import { expect, test, vi } from "vitest";
import { agentRowId } from "../core/agent-jobs.ts";
import { LIBRARY, namedBy } from "../core/by.ts";
import type * as JobBounds from "../core/jobs/limits.ts";
import type { State } from "../core/state.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import { EVERYTHING, type Sight } from "../core/visibility.ts";
import { differences } from "../../test/support/fleet/compare.ts";
import { card, World } from "../../test/support/core/fixture.ts";
import { aLife, SEED } from "../../test/support/core/lives.ts";
import { oldJob } from "../../test/support/core/jobs.ts";
import { play, type Step } from "../../test/support/core/play.ts";
import { TestClock } from "../../test/support/engine/fixture.ts";
import { JobWorld } from "../../test/support/core/job-world.ts";
import { OWN_ID } from "./identity.ts";
import type { Facts } from "../core/reports.ts";
import { DEFAULT_PATIENCE } from "./stuck.ts";
import { jobKeys, sourceKeys } from "./sources.ts";
import { touch } from "./touches.ts";
import { FleetView } from "./view.ts";
import { FleetViews } from "./views.ts";

/** So little room for jobs that every life runs into the limits. */
vi.mock("../core/jobs/limits.ts", async (original) => {
  const { smallJobBounds } = await import("../../test/support/core/lives.ts");
  return smallJobBounds(await original<typeof JobBounds>());
});

const CI: Sight = { owner: "token:ci" };
/** Has jobs. */
const ANN: Sight = { owner: "ann" };

/** One that is believed on every agent, and two that are not. */
const CALLERS = [LIBRARY, namedBy("token:ci", "http"), namedBy("ann", "http")];

/** As an engine whose state is the world's. */
function viewsOf(world: World): FleetViews {
  const engine = {
    observers: world.observers,
    peek: <T>(select: (state: State) => T) => select(world.state),
    read: async <T>(select: (state: State, sequence: number) => T) =>
      select(world.state, world.history.length),
    get nowMs() {
      return world.nowMs;
    },
  };
  return new FleetViews({ engine, clock: new TestClock(), patience: DEFAULT_PATIENCE });
}

function expectSame(views: FleetViews, { nowMs }: World): void {
  views.peek((view, state) => {
    expect(differences(view, { state, nowMs, sight: EVERYTHING })).toEqual([]);
  });
}

async function expectSameFor(sight: Sight, views: FleetViews, { state }: World): Promise<void> {
  await views.look(sight, ({ view, atMs: nowMs }) => {
    expect(differences(view, { state, nowMs, sight })).toEqual([]);
  });
}

/** Sources on machines and in folders, which claim those of other wires for their rows. */
function claim(world: World, [who, what, , how]: Step): void {
  const { agents, directory, jobs, reports } = world.state;
  const aliases = [
    ...Array.from(agents.byId.keys(), (id) => `keeper:${id}`),
    ...Array.from(directory.byUrl.values(), ({ entry }) => `a2a:${entry.verification?.from}`),
    ...Array.from(directory.byUrl.keys(), (url) => `a2a:${url}`),
    ...Array.from(jobs.byAgent.keys(), (rowId) => `jobs${rowId.slice(rowId.indexOf("@"))}`),
    ...reports.byAlias.keys(),
  ];
  const facts: Facts = {
    liveness: { value: how % 5 === 0 ? "exited" : "alive", rule: "test" },
    activity: { value: how % 2 === 0 ? "working" : "idle", rule: "test" },
    workspace: `/src/${what % 3}`,
    lastActivityAtMs: world.nowMs - how,
  };
  const link = aliases[what % (aliases.length || 1)];
  const decision = world.decide({
    type: "fleet.report",
    report: {
      alias: `claim@box-${who % 2}:${who % 3}-${world.by.principal.name}`,
      agentId: `agent-${how % 4}`,
      links: link === undefined || who % 4 === 0 ? [] : [link],
      order: world.nowMs,
      reportedAtMs: world.nowMs,
      facts,
    },
  });
  if (decision.ok) world.record(decision.events);
}

/** Then somebody else's agents may join the row. */
function dismiss(world: World, [, what]: Step): void {
  const aliases = [...world.state.reports.byAlias.keys()];
  const alias = aliases[what % (aliases.length || 1)];
  if (alias !== undefined) world.record([{ type: "fleet.dismissed", alias }]);
}

function registerNamed(world: World, agentId: string): void {
  const metadata = { [OWN_ID]: agentId };
  world.run({ type: "agent.register", card: { ...card({}), metadata }, ttlMs: HOUR });
}

test("rows that are kept are those that their facts give, after any history", async () => {
  const live = asyncProperty(aLife, aLife, async (before, after) => {
    const world = new World();
    play(before.slice(0, 40), undefined, world);
    const views = viewsOf(world);
    await expectSameFor(CI, views, world);
    for (const [i, step] of after.entries()) {
      play([step], undefined, world);
      world.by = CALLERS[(step[2] + step[3]) % 3] ?? LIBRARY;
      if (i % 5 === 0) claim(world, step);
      if (i % 11 === 0) registerNamed(world, `agent-${step[1] % 4}`);
      if (i % 13 === 0) dismiss(world, step);
      // Many changes are one look, and owners look less often.
      if (i % 3 === 0) expectSame(views, world);
      if (i % 7 === 0) await expectSameFor(CI, views, world);
      if (i % 5 === 0) await expectSameFor(ANN, views, world);
    }
    for (const ms of [MINUTE, 11 * MINUTE, 20 * MINUTE, 2 * HOUR, 30 * HOUR]) {
      // Nothing happens but that time goes by.
      world.nowMs += ms;
      expectSame(views, world);
      await expectSameFor(CI, views, world);
      await expectSameFor(ANN, views, world);
    }
  });
  await assert(live, { numRuns: 25, seed: SEED });
});

test("an agent that was stuck, and is heard again, works again", async () => {
  const world = new World();
  const agentId = world.register({ ttlMs: 10 * HOUR });
  world.acquire(agentId, "deploy", 10 * HOUR);
  const views = viewsOf(world);
  const headline = () => views.look(EVERYTHING, ({ view }) => view.kept(agentId)?.headline);
  expect(await headline()).toBe("WORKING");
  world.nowMs += 11 * MINUTE;
  expect(await headline()).toBe("PROBLEM");
  world.beat(agentId);
  expect(await headline()).toBe("WORKING");
});

test("an owner's rows are made of its own sources, and of no others", async () => {
  const world = new World();
  for (let i = 0; i < 50; i += 1) world.register();
  world.by = namedBy(CI.owner ?? "", "http");
  const agentId = world.register();
  const views = viewsOf(world);
  const ids = await views.look(CI, ({ view }) => Array.from(view.all(), ({ id }) => id));
  expect(ids).toEqual([agentId]);
});

/** A view of a world, up to date, and the ids of the rows that it makes from here on. */
class Watched {
  readonly made: string[] = [];
  readonly #world: World;
  readonly view: FleetView;

  constructor(world: World) {
    this.#world = world;
    const onMade = ({ id }: { readonly id: string }) => void this.made.push(id);
    this.view = new FleetView({ sight: EVERYTHING, patience: DEFAULT_PATIENCE, onMade });
    this.view.read([...jobKeys(world.state), ...sourceKeys(world.state)]);
    this.look();
    world.observers.add({
      before: (event, state) =>
        touch(event, state, {
          source: (key) => this.view.touch(key),
          jobs: () => undefined,
          job: ({ id, ...job }) => {
            this.view.touchJob(id);
            this.view.touch(`jobs ${agentRowId(job)}`);
          },
          entriesFrom: () => [],
          joining: () => [],
        }),
      felt: (job) => this.view.felt(job.id, agentRowId(job)),
      replaced: () => undefined,
    });
    this.made.length = 0;
  }

  look(): readonly string[] {
    const { state, nowMs, history } = this.#world;
    this.view.update(state, { nowMs, sequence: history.length });
    return this.made;
  }
}

test("many changes of one row cost one row", () => {
  const world = new World();
  const busy = world.register();
  world.register();
  const watched = new Watched(world);
  for (let i = 0; i < 100; i += 1) world.acquire(busy, `lease-${i}`);
  expect(watched.made).toEqual([]);
  expect(watched.look()).toEqual([busy]);
  expect(watched.look()).toEqual([busy]);
});

test("a look makes no row whose facts are the same, also of agents that run jobs", () => {
  const world = new JobWorld({ running: 100, runningPerPrincipal: 100 });
  for (let i = 0; i < 50; i += 1) world.submit({ agent: `agent-${i}` });
  const watched = new Watched(world);
  const jobId = world.submit({ agent: "talker" });
  expect(watched.look()).toEqual(["arcp@n1:talker"]);
  for (let i = 0; i < 100; i += 1) {
    world.say(jobId, { kind: "thought", body: { text: `${i}` } });
  }
  expect(watched.look()).toEqual(["arcp@n1:talker", "arcp@n1:talker"]);
});

test("what a job says without an event is seen by the next that looks, its owner too", async () => {
  const world = new JobWorld();
  const jobId = world.submit({ principal: "ann" });
  const views = viewsOf(world);
  const headline = (sight: Sight) =>
    views.look(sight, ({ view }) => view.kept("arcp@n1:echo")?.headline);
  expect(await headline(ANN)).toBe("WORKING");
  world.say(jobId, { kind: "status", body: { phase: "awaiting_approval", message: "go on?" } });
  expect(await headline(EVERYTHING)).toBe("NEEDS YOU");
  expect(await headline(ANN)).toBe("NEEDS YOU");
  world.say(jobId, { kind: "status", body: { phase: "indexing" } });
  expect(await headline(ANN)).toBe("WORKING");
});

test("the row of an agent asks few of its many jobs", () => {
  const world = new World();
  for (let i = 0; i < 1_000; i += 1) {
    const job = oldJob({ id: `job_${i}`, status: "running", endedAtMs: 0, session: "" });
    world.record([{ type: "job.submitted", job }]);
  }
  const watched = new Watched(world);
  const kept = watched.view.kept("arcp@n1:echo");
  const get = vi.spyOn(world.state.jobs.byId, "get");
  const row = kept && watched.view.row(world.state, kept, world.nowMs);
  expect(row?.jobs).toMatchObject({ running: 1_000, waiting: 0 });
  expect(row?.jobs?.newest).toHaveLength(20);
  expect(get.mock.calls.length).toBeLessThan(100);
});

test("an owner's view loses the row of a source that an operator took over", async () => {
  const world = new World();
  const views = viewsOf(world);
  await expectSameFor(CI, views, world);
  const liveness = { value: "alive", rule: "test" } as const;
  for (const by of [namedBy(CI.owner ?? "", "http"), LIBRARY]) {
    world.by = by;
    const about = { alias: "script:one", agentId: "one", links: [] };
    const times = { order: 1, reportedAtMs: 1 };
    world.run({ type: "fleet.report", report: { ...about, ...times, facts: { liveness } } });
    await expectSameFor(CI, views, world);
    expectSame(views, world);
  }
  expect(await views.look(CI, ({ view }) => view.size)).toBe(0);
});
