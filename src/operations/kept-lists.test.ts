import { afterEach, expect, test, vi } from "vitest";
import { byPlace, type ListPlace } from "../core/pages.ts";
import type { Agent } from "../core/agents.ts";
import { LIBRARY, namedBy } from "../core/by.ts";
import type { State } from "../core/state.ts";
import { CARD, openEngine } from "../../test/support/engine/fixture.ts";
import { seesJob, seesTask } from "../core/visibility.ts";
import { taskCreate, World } from "../../test/support/core/fixture.ts";
import { always } from "../../test/support/core/lives.ts";
import { play } from "../../test/support/core/play.ts";
import { permitBy } from "./access.ts";
import { agents } from "./agents.ts";
import { KeptLists, placeOfName, type KeptList } from "./kept-lists.ts";
import { tasks as taskOperations } from "./tasks.ts";
import type * as Limits from "./limits.ts";

/** Filters come to their bound soon. */
vi.mock("./limits.ts", async (original) => {
  const { LIST, ...others } = await original<typeof Limits>();
  return { ...others, LIST: { ...LIST, looked: 50, atOnce: 7 } };
});

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** What each list should have, from the state. */
function placesOf(state: State): ReadonlyMap<keyof KeptLists, readonly ListPlace[]> {
  const { agents: registry, leases, elections, policies, tokens, tasks, jobs, directory } = state;
  const byKey = (keys: Iterable<string>) => Array.from(keys, (key) => ({ atMs: 0, key }));
  const timed = <Item>(items: ReadonlyMap<string, Item>, atMs: (item: Item) => number) =>
    Array.from(items, ([key, item]) => ({ atMs: atMs(item), key }));
  const living = new Map([...registry.byId].filter(([, { agent }]) => agent.status !== "dead"));
  return new Map<keyof KeptLists, ListPlace[]>([
    ["agentNames", byKey(Array.from(registry.byId, ([id, { agent }]) => nameAt(agent, id)))],
    ["agents", timed(registry.byId, ({ agent }) => agent.registeredAtMs)],
    ["living", timed(living, ({ agent }) => agent.registeredAtMs)],
    ["recentLeases", timed(leases.byTask, ({ lease }) => lease.token)],
    ["recentLeaders", timed(elections.byGroup, ({ election }) => election.electedAtMs)],
    ["leases", byKey(leases.byTask.keys())],
    ["elections", byKey(elections.byGroup.keys())],
    ["policies", byKey(policies.byId.keys())],
    ["tokens", byKey(tokens.byName.keys())],
    ["tasks", timed(tasks.byId, ({ task }) => task.createdAtMs)],
    ["jobs", timed(jobs.byId, ({ job }) => job.submittedAtMs)],
    ["directory", timed(directory.byUrl, ({ entry }) => entry.registeredAtMs)],
  ]);
}

function nameAt({ card }: Agent, id: string): string {
  return placeOfName(card.name) + id;
}

const CI = { owner: "token:ci" };
const ANN = { owner: "ann" };

function shownIn<Item>(list: KeptList<Item>, state: State): readonly (Item | undefined)[] {
  list.update(state);
  return Array.from(list.after(undefined), (place) => list.item(state, place)).filter(Boolean);
}

test("an owner's list has what the owner sees, after any history", () => {
  always((steps) => {
    const world = new World();
    const lists = new KeptLists();
    world.observers.add(lists);
    for (const [i, step] of steps.entries()) {
      play([step], undefined, world);
      const { state } = world;
      if (i % 4 > 0) continue;
      const tasks = [...state.tasks.byId.values()].filter((each) => seesTask(CI, state, each.task));
      const jobs = [...state.jobs.byId.values()].filter((each) => seesJob(ANN, each.job));
      expect(new Set(shownIn(lists.tasksSeen(CI), state))).toEqual(new Set(tasks));
      expect(new Set(shownIn(lists.jobsSeen(ANN), state))).toEqual(new Set(jobs));
    }
  }, 40);
});

test("a principal that sees 10 of many looks at 10", async () => {
  const { engine } = await openEngine();
  cleanups.push(() => engine.close());
  const ci = namedBy(CI.owner, "http");
  const taskType = "scan";
  for (let i = 0; i < 200; i += 1) {
    const by = i % 20 === 7 ? ci : LIBRARY;
    await engine.execute(taskCreate({ taskType }), by);
  }
  const call = { by: ci, signal: AbortSignal.timeout(10_000) };
  const page = await taskOperations.list.run(
    { engine },
    taskOperations.list.input.parse({ limit: 4 }),
    call,
  );
  expect(page).toMatchObject({ total: 10 });
  expect(page.tasks).toHaveLength(4);
  expect(page).not.toHaveProperty("isPartial");
});

test("an agent is found by its name without a look at the others", async () => {
  const { engine } = await openEngine();
  cleanups.push(() => engine.close());
  for (const name of ["ann", "bob", "bob", "bobby"]) {
    const card = { ...CARD, name };
    await engine.execute({ type: "agent.register", card, ttlMs: 60_000 }, LIBRARY);
  }
  const services = { engine, permit: permitBy(engine) };
  const call = { by: LIBRARY, signal: AbortSignal.timeout(10_000) };
  const get = (agentId: string) => agents.get.run(services, { agentId }, call);
  await expect(get("bob")).rejects.toThrow(/2 agents are called bob/);
  const values = vi.spyOn(engine.peek((state) => state).agents.byId, "values");
  await expect(get("ann")).resolves.toMatchObject({ agent: { card: { name: "ann" } } });
  expect(values).not.toHaveBeenCalled();
  await expect(get("bobb")).resolves.toMatchObject({ agent: { card: { name: "bobby" } } });
});

test("every list is in order, and has what there is, after any history", () => {
  always((steps) => {
    const world = new World();
    const lists = new KeptLists();
    world.observers.add(lists);
    for (const [i, step] of steps.entries()) {
      play([step], undefined, world);
      if (i % 4 > 0) continue;
      for (const [noun, places] of placesOf(world.state)) {
        const list = lists[noun] as KeptList<unknown>;
        list.update(world.state);
        expect([...list.after(undefined)]).toEqual(places.toSorted(byPlace));
      }
    }
  }, 40);
});

test("pages of a filter that looks at too much go on from there, and miss nothing", async () => {
  const { engine } = await openEngine();
  cleanups.push(() => engine.close());
  const register = async (name: string) => {
    const card = { ...CARD, name };
    await engine.execute({ type: "agent.register", card, ttlMs: 60_000 }, LIBRARY);
  };
  for (let i = 0; i < 200; i += 1) await register(i % 20 === 7 ? `wanted-${i}` : `other-${i}`);
  const found: string[] = [];
  const partial: unknown[] = [];
  let cursor: string | undefined;
  do {
    const input = agents.list.input.parse({ namePrefix: "wanted", limit: 2, cursor });
    const call = { by: LIBRARY, signal: AbortSignal.timeout(10_000) };
    const page = await agents.list.run({ engine }, input, call);
    found.push(...page.agents.map(({ card }) => card.name));
    partial.push(page.isPartial ?? false);
    ({ cursor } = page);
    // What comes meanwhile stands behind the cursor, and changes no page before it.
    if (found.length === 4) await register("wanted-late");
  } while (cursor !== undefined);
  const first = Array.from({ length: 10 }, (_, i) => `wanted-${20 * i + 7}`);
  expect(found).toEqual([...first, "wanted-late"]);
  expect(partial).toContain(true);
  expect(partial.at(-1)).toBe(false);
});
