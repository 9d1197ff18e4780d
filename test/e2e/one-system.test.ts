/**
 * One system: what enters by one wire is seen on all others, and outlives the daemon. The scene is
 * that of `npm run tour`; here everything is looked at, in the order in which it happens.
 */
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import type { ClientState, ReceivedEvent } from "../../src/wires/arcp/client/types.ts";
import { summary } from "../../src/cli/fleet/look.ts";
import type { FleetList, TaskDetail } from "../../src/wires/api/answers.ts";
import type { Actor } from "../tour/actor.ts";
import { Model } from "../tour/cast/model.ts";
import { Scene } from "../tour/scene.ts";
import { storyOf } from "../tour/story.ts";
import { until } from "../tour/until.ts";

vi.setConfig({ testTimeout: 120_000, hookTimeout: 180_000 });

interface BusEvent {
  readonly sequence: number;
  readonly topic: string;
}

let scene: Scene;
let bus: Actor;
let model: Model;

const heard = () =>
  bus.output
    .slice(0, bus.output.lastIndexOf("\n") + 1)
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as BusEvent);

/** Every event up to here is on the bus. */
async function caughtUp(): Promise<readonly BusEvent[]> {
  const { sequence } = (await scene.client.get("/v1/fleet")) as unknown as FleetList;
  return until(`event ${sequence}`, () => {
    const events = heard();
    return events.length >= sequence ? events : undefined;
  });
}

const wire = (name: string) => ({ evidence: { wire: name } });

describe.skipIf(lacks("agentkeeper-sdk"))("one daemon", () => {
  beforeAll(async () => {
    scene = await Scene.open();
    bus = scene.follow(["events", "--from", "0", "--json"]);
    model = await Model.connect(scene.place);
    const [, , [first]] = await Promise.all([
      scene.claude(),
      scene.editor(),
      scene.workers(),
      scene.translator(),
      scene.job(),
    ]);
    const task = ["tasks", "create", "prices", "--input", "shop.example", "--retries", "3"];
    await scene.run([...task, "--ttl", "1h"]);
    await first.works();
    await scene.sees("claude-code", ({ headline }) => headline === "NEEDS YOU");
    await scene.sees("pair", ({ blockedOn, aliases }) => !!blockedOn && aliases.length === 4);
    await scene.sees("indexer", ({ headline }) => headline === "WORKING");
  });

  afterAll(async () => {
    await scene.close();
  });

  test("each agent is one row, with the right axes and evidence", async () => {
    const [first, second] = await scene.workers();
    const job = await scene.job();
    const { url } = await scene.translator();
    const { id: indexer } = await scene.sees("indexer", ({ jobs }) => jobs?.running === 1);
    const { rows, total } = await scene.json<FleetList>("ls");
    const byId = new Map(rows.map((row) => [row.id, row]));
    expect([total, byId.size]).toEqual([6, 6]);
    expect(byId.get("claude-code-checkout")).toMatchObject({
      name: "claude-code",
      headline: "NEEDS YOU",
      workspace: scene.place.shop,
      goal: "Make the checkout fast",
      liveness: { value: "alive", ...wire("file") },
      activity: { value: "waiting", ...wire("file") },
      blockedOn: { value: { kind: "permission", text: "Bash: npm run migrate" }, ...wire("file") },
    });
    expect(byId.get(first.agentId)).toMatchObject({
      name: "scraper-1",
      headline: "WORKING",
      liveness: { value: "alive", evidence: { wire: "keeper", rule: "its heartbeats come" } },
      activity: {
        value: "working",
        task: "prices",
        evidence: { wire: "keeper", rule: "it has claimed a task" },
      },
    });
    expect(byId.get(second.agentId)).toMatchObject({
      name: "scraper-2",
      headline: "IDLE",
      activity: { value: "idle", evidence: { rule: "it holds no task and no lease" } },
    });
    expect(byId.get(url)).toMatchObject({
      name: "Translator",
      headline: "IDLE",
      liveness: {
        value: "alive",
        evidence: { wire: "a2a", rule: "its heartbeats come, its card is its own (owner)" },
      },
      activity: { value: "unknown", evidence: { rule: "no source told it" } },
    });
    expect(byId.get(indexer)).toMatchObject({
      name: "indexer",
      headline: "WORKING",
      liveness: { value: "alive", evidence: { wire: "jobs", rule: "it runs a job" } },
      activity: { value: "working", task: "120/400 files", ...wire("jobs") },
      jobs: { running: 1, waiting: 0, newest: [{ id: job.id, status: "running" }] },
    });
  });

  test("an agent with a proxy, a hook and a registration is one row by all its names", async () => {
    const { rows } = await scene.json<FleetList>("ls");
    const [row, ...others] = rows.filter(({ workspace, name }) => {
      return name === "pair" || (workspace === scene.place.shop && name !== "claude-code");
    });
    expect(others).toEqual([]);
    expect(row).toMatchObject({
      id: "pair-programmer",
      headline: "NEEDS YOU",
      goal: "Rename Cart to Basket",
      liveness: { value: "alive", evidence: { wire: "acp", rule: "it runs behind the proxy" } },
      activity: { value: "waiting", task: "Step 2/2: Rename the class", ...wire("acp") },
      blockedOn: {
        value: { text: "Write src/basket.ts", options: ["Allow once", "Reject"] },
        ...wire("acp"),
      },
    });
    expect(row?.aliases.map((alias) => alias.replace(/(?:@[^:]*)?:.*/, ""))).toEqual([
      "acp",
      "file",
      "file",
      "keeper",
    ]);
    for (const alias of row?.aliases ?? []) {
      const found = await scene.client.get(`/v1/fleet/${encodeURIComponent(alias)}`);
      expect(found).toMatchObject({ row: { id: "pair-programmer" } });
    }
    expect((await storyOf(scene)).questions).toHaveLength(2);
  });

  test("a daemon that is killed in the middle comes back with everything", async () => {
    const states: ClientState["kind"][] = [];
    await using client = await ArcpClient.connect(
      `${scene.daemon.url.replace("http", "ws")}/arcp`,
      {
        token: "anonymous",
        onState: ({ kind }) => states.push(kind),
      },
    );
    const { id } = await scene.job();
    const handle = await client.subscribe(id, { history: true });
    const events: ReceivedEvent[] = [];
    const following = (async () => {
      for await (const event of handle.events()) events.push(event);
    })();
    const isHalf = () => events.some(({ kind }) => kind === "progress") || undefined;
    await until("the job's progress", isHalf);
    const told = [...events];
    const [before, log] = [await storyOf(scene), await caughtUp()];
    const toldBefore = model.told;

    await scene.daemon.kill();
    expect(await scene.run(["leases"])).toMatchObject({ code: 3 });
    await scene.daemon.restart();

    await vi.waitFor(async () => expect(await storyOf(scene)).toEqual(before), {
      timeout: 60_000,
      interval: 50,
    });
    expect((await caughtUp()).slice(0, log.length)).toEqual(log);
    await until("a word to the model", () => model.told > toldBefore || undefined);
    const isRestarted = () => states.includes("resumed") || undefined;
    await until("the client to resume", isRestarted);
    await until("the job to run again", () => events.length >= 2 * told.length || undefined);
    expect(events.slice(0, told.length)).toEqual(told);
    expect(states).not.toContain("gap");
    await client.close();
    await following.catch(() => undefined);
  });

  test("a worker that is killed is the same story everywhere", async () => {
    const [first, second] = await scene.workers();
    const { token } = await first.works();
    const before = (await caughtUp()).length;
    const toldBefore = model.told;

    await first.kill();
    const taken = await second.works();

    expect(taken.token).toBeGreaterThan(token);
    const about = /^(?:agent|lease|election|leader|task)\./;
    const events = (await caughtUp()).slice(before).filter(({ topic }) => about.test(topic));
    const death = events.findIndex(({ topic }) => topic === "agent.died");
    expect(events.slice(death).map(({ topic }) => topic)).toEqual([
      "agent.died",
      "lease.released",
      "election.left",
      "leader.changed",
      "task.requeued",
      "task.claimed",
      "lease.acquired",
    ]);
    expect(events.slice(death)).toMatchObject([
      { agent: { agentId: first.agentId, status: "dead" } },
      { lease: { taskId: "site:shop.example", holder: first.agentId } },
      { group: "scrapers", agentId: first.agentId },
      { election: { group: "scrapers", leader: second.agentId, term: 2 } },
      { taskId: taken.taskId, agentId: first.agentId },
      { taskId: taken.taskId, claim: { agentId: second.agentId } },
      { lease: { taskId: "site:shop.example", holder: second.agentId, token: taken.token } },
    ]);

    const list = await scene.json<FleetList>("ls");
    const named = (name: string) => list.rows.find((row) => row.name === name);
    expect(named("scraper-1")).toMatchObject({
      headline: "PROBLEM",
      liveness: { value: "dead", evidence: { wire: "keeper", rule: "its heartbeats stopped" } },
    });
    expect(named("scraper-2")).toMatchObject({ headline: "WORKING", activity: { task: "prices" } });
    const line = await scene.run(["ls", "--oneline"]);
    expect(line.stdout.trim()).toBe("2 need you · 1 problem · 2 working · 1 idle");
    expect(line.stdout.trim()).toBe(summary(list));
    const { counts, agents } = await model.fleet();
    expect(counts).toEqual(list.counts);
    const short = (each: { name: string; headline: string; why: string }) =>
      `${each.name} ${each.headline} ${each.why}`;
    expect(agents.map(short)).toEqual(list.rows.map(short));
    await until("a word to the model", () => model.told > toldBefore || undefined);
  });

  test("everybody goes on, under what they held before the daemon died", async () => {
    const [claude, editor, job] = [await scene.claude(), await scene.editor(), await scene.job()];
    const [, second] = await scene.workers();
    const { taskId } = await second.works();
    await Promise.all([claude.finish(), editor.allow()]);
    await scene.sees("pair", ({ headline }) => headline === "WORKING");
    await editor.finish();
    await second.finish();
    expect(await job.finish()).toBe("400 files of shop are indexed");
    expect(job.errors).toContain("connected again: nothing is missed");

    await scene.sees("claude-code", ({ headline }) => headline === "IDLE");
    const pair = await scene.sees("pair", ({ headline }) => headline === "IDLE");
    expect(pair.outcome).toMatchObject({ value: "success", ...wire("acp") });
    const task = (await scene.client.get(`/v1/tasks/${taskId}`)) as unknown as { task: TaskDetail };
    expect(task.task).toMatchObject({ status: "completed", claimedBy: second.agentId });
    const { questions } = await scene.json<{ questions: readonly unknown[] }>("inbox", "--all");
    expect(questions).toMatchObject([{ state: "answered" }, { state: "answered" }]);
    const { leases, elections, jobs } = await storyOf(scene);
    expect(leases).toEqual([]);
    expect(elections).toEqual([`scrapers ${second.agentId} 2`]);
    expect(jobs).toEqual([`${job.id} indexer success`]);
  });

  test("the bus told all of it, once and in order, over the death of the daemon", async () => {
    const sequences = (await caughtUp()).map(({ sequence }) => sequence);
    expect(sequences).toEqual(sequences.map((_, i) => i + 1));
    expect(scene.daemon.log).not.toMatch(/"level":(?:50|60)/);
  });
});
