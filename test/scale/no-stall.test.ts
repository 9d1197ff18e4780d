import { create } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LIBRARY, namedBy } from "../../src/core/by.ts";
import { capture } from "../../src/core/snapshot.ts";
import { feel, newPulse } from "../../src/core/job-progress.ts";
import type { Command } from "../../src/core/rules.ts";
import { HOUR } from "../../src/core/units.ts";
import { STATE_GAUGES } from "../../src/daemon/state-metrics.ts";
import { ANY } from "../../src/fleet/filters.ts";
import { operations, TABLE } from "../../src/operations/table.ts";
import {
  ListPoliciesRequestSchema,
  ListTasksRequestSchema,
} from "../../src/wires/keeper/gen/agentkeeper/v1/agentkeeper_pb.ts";
import { entitlementsService } from "../../src/wires/keeper/server/entitlements-service.ts";
import { taskService } from "../../src/wires/keeper/server/task-service.ts";
import { MODEL_TEXT } from "../../src/wires/mcp/limits.ts";
import { taskCreate } from "../support/core/fixture.ts";
import { jobDefaults } from "../support/core/jobs.ts";
import { openApi, type Api } from "../support/daemon/api.ts";
import { ask } from "../support/daemon/fixture.ts";
import { CARD } from "../support/engine/fixture.ts";
import { spentMs } from "../support/machine/turns.ts";
import { keepsNobodyWaiting, REBUILT_MS, TURN_MS } from "./turns.ts";

const AGENTS = 100_000;
/** Of jobs, tasks, questions, policies and entries of the directory. */
const OTHERS = 5_000;
const AT_ONCE = 500;
const SECOND = 1000;

const CI = namedBy("token:ci", "http");
const ALIVE = { value: "alive", rule: "test" } as const;

let api: Api;
let agentId = "";

beforeAll(async () => {
  api = await openApi();
  // What is loaded and compiled at the first call is no stall of the hundredth.
  await register("first");
  for (let round = 0; round < 5; round += 1) {
    for (const path of PATHS.flatMap(pathsOf)) await ask(api.opened.port, path);
  }
  for (let from = 0; from < AGENTS; from += AT_ONCE) {
    const names = Array.from({ length: AT_ONCE }, (_, i) => `agent-${from + i}`);
    await Promise.all(names.map((name) => register(name)));
  }
  for (let from = 0; from < OTHERS; from += AT_ONCE) {
    const numbers = Array.from({ length: AT_ONCE }, (_, i) => from + i);
    await Promise.all(numbers.map((i) => addOthers(i)));
  }
  // Rows are made behind the burst. V8 doubles its tables in one go as they fill: not ours to cut.
  await ask(api.opened.port, "/v1/fleet?limit=1");
}, 120 * SECOND);

afterAll(() => api.close());

async function register(name: string): Promise<void> {
  const card = { ...CARD, name };
  const made = await api.engine.execute({ type: "agent.register", card, ttlMs: HOUR }, LIBRARY);
  agentId = made.agentId;
  await api.engine.execute({ type: "lease.acquire", taskId: name, agentId, ttlMs: HOUR }, LIBRARY);
}

async function addOthers(i: number): Promise<void> {
  const { engine } = api;
  const run = (command: Command) => engine.execute(command, LIBRARY);
  const by = i % 500 === 7 ? CI : LIBRARY;
  const jobId = `job_${String(i).padStart(8, "0")}`;
  const principal = i % 500 === 7 ? CI.principal.name : `principal-${i % 8}`;
  const url = `http://h${i % 50}.example/${i}`;
  const card = { text: JSON.stringify({ name: `entry ${i}` }), digest: `digest ${i}` };
  const proof = { isItsOwn: false, isSigned: false, signature: "" };
  const sinceMs = engine.nowMs;
  const question = { value: { kind: "text", text: `and ${i}?`, sinceMs }, rule: "asks" } as const;
  const policy = { subject: `agent:${i}`, action: "call", resource: "*", effect: "allow" } as const;
  await run({ ...jobDefaults(), jobId, principal, agent: `worker-${i % 20}` });
  await engine.execute(taskCreate({ taskType: `type-${i % 100}` }), by);
  await run({ type: "policy.set", policy: { ...policy, id: `policy-${i}` } });
  await engine.execute(
    {
      type: "fleet.report",
      report: {
        alias: `script@box-${i % 3}:${i}`,
        agentId: `asking-${i}`,
        links: [],
        order: sinceMs,
        reportedAtMs: sinceMs,
        facts: { liveness: ALIVE, question, workspace: `/src/project-${i}` },
      },
    },
    by,
  );
  const heard = { url, origin: `http://h${i % 50}.example`, source: `10.0.0.${i % 50}` };
  await run({
    type: "directory.heartbeat",
    ...heard,
    card,
    intervalMs: 0,
    staleMultiplier: 3,
    newTokenHash: "hash",
    tokenHash: "",
  });
  await run({ type: "directory.confirm", url, heard: card.digest, card, from: url, proof });
}

/** What a caller asks for: the first page, something by its id, and something by a word. */
const SAMPLES: Readonly<Record<string, string>> = { taskId: "agent-77", group: "g", url: "nobody" };

function pathsOf(path: string): readonly string[] {
  if (path === "/v1/fleet") {
    const queries = [
      "limit=50",
      "workspacePrefix=/",
      "host=box-1&workspacePrefix=/src",
      "needs=me",
    ];
    return [path, `${path}?at=${api.engine.nowMs}`, ...queries.map((each) => `${path}?${each}`)];
  }
  if (!path.includes("{")) return [path];
  const named = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => SAMPLES[name] ?? "agent-777");
  return [named, path.replaceAll(/\{\w+\}/g, () => agentId)];
}

/** `status` has no daemon to tell of here. */
const PATHS = operations().flatMap(([name, { effect, path }]) =>
  effect === "reads" && name !== "daemon.status" ? [path] : [],
);

describe(`with ${AGENTS} agents and leases`, () => {
  test.each(PATHS)("GET %s keeps nobody waiting", { timeout: 240 * SECOND }, async (path) => {
    for (const each of pathsOf(path)) {
      const mostMs = each.includes("?at=") ? REBUILT_MS : TURN_MS;
      await keepsNobodyWaiting(each, mostMs, () => ask(api.opened.port, each));
    }
  });

  test.each(Object.keys(ACTS))("%s keep nobody waiting", { timeout: 240 * SECOND }, (name) =>
    keepsNobodyWaiting(name, TURN_MS, ACTS[name] ?? (() => Promise.reject(new Error("no act")))),
  );

  test("a scrape reads what is kept: two milliseconds, whatever the size", async () => {
    const { engine, fleet } = api;
    await fleet.page(ANY, { limit: 1 });
    const scrapes = 300;
    const fromMs = spentMs();
    for (let i = 0; i < scrapes; i += 1) {
      await engine.heartbeat(agentId, LIBRARY);
      fleet.numbers();
      engine.peek((state) => STATE_GAUGES.map(({ read }) => read(state, engine.nowMs)));
    }
    expect((spentMs() - fromMs) / scrapes).toBeLessThan(2);
  });
});

/** What is no GET: by what it does. */
const ACTS: Readonly<Record<string, () => Promise<unknown>>> = {
  commands: async () => {
    for (let i = 0; i < 100; i += 1) {
      await register(`more-${i}`);
      await api.engine.heartbeat(agentId, LIBRARY);
    }
  },
  "heartbeats of all agents": async () => {
    const ids = api.engine.peek(({ agents }) => [...agents.byId.keys()]);
    for (let from = 0; from < ids.length; from += AT_ONCE) {
      const some = ids.slice(from, from + AT_ONCE);
      await Promise.all(some.map((id) => api.engine.heartbeat(id, LIBRARY)));
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  "live streams, from the beginning and from where they were": async () => {
    for (const from of [undefined, 1, api.engine.head - 10]) {
      let changes = 0;
      for await (const { isComplete } of api.fleet.changes({ from })) {
        if (isComplete || (changes += 1) >= 20) break;
      }
    }
  },
  "lists over gRPC": async () => {
    const call = { by: LIBRARY } as Parameters<typeof tasks.listTasks>[1];
    const tasks = taskService(api.engine, api.claims);
    const policies = entitlementsService(api.engine);
    await tasks.listTasks(create(ListTasksRequestSchema), call);
    await policies.listPolicies(
      create(ListPoliciesRequestSchema, { subjectPrefix: "agent:1" }),
      call,
    );
  },
  snapshots: async () => {
    // A store takes each chunk in a turn of its own.
    for (const chunk of api.engine.peek((state) => capture(state))) {
      expect(chunk.length).toBeGreaterThan(0);
      await new Promise((resolve) => setImmediate(resolve));
    }
  },
  "the rows that MCP shows as a resource": () => api.fleet.rows(MODEL_TEXT.resourceRows),
  "an owner's own rows, tasks, jobs and questions": async () => {
    const fleet = api.fleet.seenBy(CI.principal);
    const { rows } = await fleet.page(ANY, { limit: 50 });
    const { total } = await fleet.page(ANY, { limit: 1 });
    expect(rows).toHaveLength(11);
    expect(total).toBe(11);
    expect((await fleet.questions()).questions).toHaveLength(10);
    const own = { by: CI, signal: AbortSignal.timeout(60 * SECOND) };
    const { tasks, jobs } = TABLE;
    const ownTasks = await tasks.list.run(api, tasks.list.input.parse({}), own);
    const ownJobs = await jobs.list.run(api, jobs.list.input.parse({}), own);
    for (const list of [ownTasks, ownJobs]) expect(list).toMatchObject({ total: 10 });
  },
  "agents that run jobs which all say something": async () => {
    const jobs = api.engine.peek((state) => [...state.jobs.byId.values()]);
    for (const entry of jobs) {
      entry.pulse ??= newPulse(api.engine.nowMs);
      feel(entry.pulse, { kind: "thought", body: { text: "hm" } }, api.engine.nowMs);
      api.engine.observers.felt(entry.job);
    }
    await new Promise((resolve) => setImmediate(resolve));
    await api.fleet.page(ANY, { limit: 50 });
  },
};
