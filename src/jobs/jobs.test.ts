import { describe, expect, test } from "vitest";
import { decodeEntry, jobStream, type JobStreamEntry } from "../core/job-stream.ts";
import { countersOf } from "../core/jobs/budget.ts";
import type { JobLimits } from "../core/jobs.ts";
import { Engine } from "../engine/engine.ts";
import { MemoryMedium, memoryStore } from "../log/memory/store.ts";
import { quiet, TestClock, TestLog } from "../../test/support/engine/fixture.ts";
import { JobsCompanion, jobOrder, jobsOptions } from "../../test/support/jobs/fixture.ts";
import { JobAgents } from "./agents.ts";
import type { JobContext } from "./context.ts";
import type { JobsOptions } from "./jobs.ts";
import type { JobAuthorizer } from "./observer.ts";
import type { Owner } from "./run.ts";
import { byOf, ITSELF, LIBRARY, namedBy } from "../core/by.ts";

const POLICY = {
  type: "policy.set",
  policy: { id: "p", subject: "*", action: "*", resource: "*", effect: "deny" },
} as const;

interface Puppet {
  readonly input: unknown;
  readonly job: JobContext;
  readonly end: (value?: string) => void;
}

/** One database, and daemons that live on it one after the other. */
class Machine {
  readonly medium = new MemoryMedium();
  readonly clock = new TestClock();
  puppets: Puppet[] = [];
  /** The most that is kept of one job's stream. */
  kept = { events: 1_000_000, bytes: 1_000_000_000 };
  /** The session that submits all jobs. */
  owner: Owner | undefined;
  newId: JobsOptions["newId"] | undefined;

  /** A start: the one before is dead, and can write nothing more. */
  async start(limits: Partial<JobLimits> = {}, node = "n1", authorizer?: JobAuthorizer) {
    this.puppets = [];
    const { log: inner, streams } = memoryStore({ medium: this.medium, shared: false });
    const log = new TestLog(inner);
    const agents = new JobAgents();
    const puppet = (input: unknown, job: JobContext) =>
      new Promise<string | undefined>((end) => this.puppets.push({ input, job, end }));
    agents.register("mortal", puppet);
    agents.register("phoenix", puppet, { restart: "always" });
    const { clock, kept } = this;
    const ownerOf = () => this.owner;
    const newId = this.newId && { newId: this.newId };
    const given = { node, streams, agents, clock, limits, authorizer, kept, ownerOf, ...newId };
    const companion = new JobsCompanion(jobsOptions(given));
    const engine = await Engine.open({ log, node, clock, companion });
    await quiet();
    const { jobs } = companion;
    const submit = async (agent: string, principal = "ann") => {
      const { job } = await jobs.submit(jobOrder(agent, { by: namedBy(principal, "library") }));
      await quiet();
      return job.id;
    };
    const statusOf = (jobId: string) => jobs.state.jobs.byId.get(jobId)?.job.status;
    return { engine, jobs, log, submit, statusOf };
  }

  entries(jobId: string): readonly JobStreamEntry[] {
    const { entries = [] } = this.medium.streams.get(jobStream(jobId)) ?? {};
    return entries.map(decodeEntry);
  }

  kinds(jobId: string): string[] {
    return this.entries(jobId).map(({ kind }) => kind);
  }

  events(): string[] {
    return this.medium.entries.map((text) => /"type":"([^"]+)"/.exec(text)?.[1] ?? "");
  }
}

describe("the stream of a job", () => {
  test("ends with its end, also where it spends and ends in one breath", async () => {
    const machine = new Machine();
    const { jobs } = await machine.start();
    const lease = { "cost.budget": ["USD:5"] };
    const { job } = await jobs.submit(jobOrder("mortal", { lease }));
    await quiet();
    const [puppet] = machine.puppets;
    await puppet?.job.metric("cost.x", 1, { unit: "USD" });
    await quiet();
    void puppet?.job.metric("cost.x", 2, { unit: "USD" });
    puppet?.end("done");
    await quiet();
    const kinds = machine.kinds(job.id);
    expect(kinds.at(-1)).toBe("end");
    expect(kinds.filter((kind) => kind === "budget")).toHaveLength(1);
    expect(jobs.state.jobs.byId.get(job.id)?.job.budget).toEqual({ USD: "2" });
  });
});

test("a child on another node has its budget from its parent, also after a crash", async () => {
  const machine = new Machine();
  const first = await machine.start();
  const lease = { "cost.budget": ["USD:5"], "agent.delegate": ["*"] };
  const { job } = await first.jobs.submit(jobOrder("phoenix", { lease }));
  await quiet();
  await machine.puppets[0]?.job.metric("cost.x", 1, { unit: "USD" });
  await quiet();
  const order = { agent: "mortal", node: "n2", session: "", traceId: "", parent: job.id };
  const own = { jobId: "job_child", principal: job.principal, lease: { "cost.budget": ["USD:2"] } };
  first.jobs.term.decide(
    { type: "job.submit", ...order, ...own },
    namedBy(job.principal, "library"),
  );
  await quiet();
  const second = await machine.start();
  // The child ended with its node, and gave back what it had.
  const purse = second.jobs.state.jobs.byId.get(job.id)?.purse;
  expect(purse && countersOf(purse)).toEqual({ USD: "4" });
});

// Ids grow with the clock of the node that makes them: the next leader's may be behind.
test("a child whose id comes before its parent's is paid for by it after a crash", async () => {
  const machine = new Machine();
  let ids = 9;
  machine.newId = () => String((ids -= 1));
  const first = await machine.start();
  const lease = { "cost.budget": ["USD:5"], "agent.delegate": ["*"] };
  const { job } = await first.jobs.submit(jobOrder("phoenix", { lease }));
  await quiet();
  const leftAt = ({ jobs }: typeof first) => {
    const purse = jobs.state.jobs.byId.get(job.id)?.purse;
    return purse && countersOf(purse);
  };
  void machine.puppets[0]?.job.delegate("mortal", { lease: { "cost.budget": ["USD:2"] } });
  await quiet();
  // One more than it was given: its parent pays for that when it ends, here by the crash.
  await machine.puppets[1]?.job.metric("cost.x", 3, { unit: "USD" });
  await quiet();
  expect(leftAt(first)).toEqual({ USD: "3" });
  expect(leftAt(await machine.start())).toEqual({ USD: "2" });
  expect(leftAt(await machine.start())).toEqual({ USD: "2" });
});

describe("a job that says more than is kept", () => {
  async function say(puppet: Puppet | undefined, times: number): Promise<void> {
    for (let i = 0; i < times; i += 1) void puppet?.job.log("info", `line ${i}`);
    await quiet();
  }

  test("keeps its input, as it was given, and what is left of its budget", async () => {
    const machine = new Machine();
    machine.kept = { events: 100, bytes: 1_000_000_000 };
    const first = await machine.start();
    const lease = { "cost.budget": ["USD:5"] };
    const input = { hi: 1 };
    const { job } = await first.jobs.submit(jobOrder("phoenix", { input, lease }));
    await quiet();
    const [puppet] = machine.puppets;
    await puppet?.job.metric("cost.x", 4, { unit: "USD" });
    // Agents may do with it what they like.
    input.hi = 2;
    for (let round = 0; round < 3; round += 1) {
      await say(puppet, 300);
      first.jobs.sweep();
      await quiet();
    }
    expect(machine.entries(job.id).length).toBeLessThan(200);
    const second = await machine.start();
    expect(machine.puppets[0]?.input).toEqual({ hi: 1 });
    const purse = second.jobs.state.jobs.byId.get(job.id)?.purse;
    expect(purse && countersOf(purse)).toEqual({ USD: "1" });
  });

  test("is written down again only when it would go", async () => {
    const machine = new Machine();
    machine.kept = { events: 1_000, bytes: 1_000_000_000 };
    const { jobs } = await machine.start();
    const lease = { "cost.budget": ["USD:5"] };
    const { job } = await jobs.submit(jobOrder("phoenix", { lease }));
    await quiet();
    const [puppet] = machine.puppets;
    await puppet?.job.metric("cost.x", 4, { unit: "USD" });
    for (let round = 0; round < 4; round += 1) {
      await say(puppet, 500);
      jobs.sweep();
      jobs.sweep();
      await quiet();
    }
    const hidden = machine.kinds(job.id).filter((kind) => kind === "input" || kind === "budget");
    expect(hidden).toEqual(["input", "budget"]);
  });

  test("says nothing more once it is over, also where it is trimmed then", async () => {
    const machine = new Machine();
    machine.kept = { events: 100, bytes: 1_000_000_000 };
    const { jobs, submit } = await machine.start();
    const jobId = await submit("phoenix");
    await say(machine.puppets[0], 300);
    const ending = { status: "error", code: "INTERNAL", reason: "tired" } as const;
    jobs.term.decide({ type: "job.end", jobId, ending }, ITSELF);
    jobs.sweep();
    await quiet();
    expect(machine.kinds(jobId).at(-1)).toBe("end");
  });

  test("is trimmed by what it weighs, also what it said before a restart", async () => {
    const machine = new Machine();
    machine.kept = { events: 1_000_000, bytes: 100_000 };
    const first = await machine.start();
    const jobId = await first.submit("phoenix");
    await say(machine.puppets[0], 5_000);
    const second = await machine.start();
    second.jobs.sweep();
    await quiet();
    const bytes = machine.entries(jobId).reduce((sum, { body }) => sum + body.length, 0);
    expect(bytes).toBeLessThan(100_000);
    expect(bytes).toBeGreaterThan(10_000);
  });

  test("is numbered on after a restart", async () => {
    const machine = new Machine();
    machine.owner = { frameBytes: 1_000, takesChunks: true, hear: ({ position }) => position + 7 };
    const first = await machine.start();
    const jobId = await first.submit("phoenix");
    await say(machine.puppets[0], 3);
    const before = first.jobs.run(jobId)?.lastSeq;
    machine.owner = undefined;
    const second = await machine.start();
    expect(before).toBe(4 + 7);
    expect(second.jobs.run(jobId)?.lastSeq).toBe(before);
  });
});

test("however much a job says, the log hears of it a few times a minute", async () => {
  const machine = new Machine();
  const { submit } = await machine.start();
  const jobId = await submit("mortal");
  const [puppet] = machine.puppets;
  const [seconds, perSecond] = [300, 20];
  for (let second = 0; second < seconds; second += 1) {
    for (let i = 0; i < perSecond; i += 1) void puppet?.job.log("info", `${second} ${i}`);
    void puppet?.job.progress(second, { total: seconds });
    await machine.clock.advance(1_000);
  }
  expect(machine.kinds(jobId).length).toBe(seconds * (perSecond + 1));
  const told = machine.events().filter((type) => type === "job.progressed").length;
  expect(told).toBeGreaterThanOrEqual(19);
  expect(told).toBeLessThanOrEqual(19 + 5);
});

test("a job delegates with the roles of its submitter, also after a crash", async () => {
  const machine = new Machine();
  const asked: (readonly string[])[] = [];
  const authorizer: JobAuthorizer = {
    entitle: ({ roles }) => void asked.push(roles),
  };
  const { jobs } = await machine.start({}, "n1", authorizer);
  const ann = byOf({ ...namedBy("ann", "library").principal, roles: ["agent"] }, "arcp");
  const lease = { "agent.delegate": ["*"] };
  await jobs.submit(jobOrder("phoenix", { by: ann, lease }));
  await quiet();
  await machine.puppets[0]?.job.delegate("mortal");
  await machine.start({}, "n1", authorizer);
  await machine.puppets[0]?.job.delegate("mortal");
  expect(asked).toEqual([["agent"], ["agent"], ["agent"]]);
});

describe("an agent whose daemon lost its lead for a moment", () => {
  test("neither says nor does anything any more, whatever it makes of its signal", async () => {
    const machine = new Machine();
    const { jobs, submit, log } = await machine.start();
    const jobId = await submit("phoenix");
    const [old] = machine.puppets;
    await old?.job.log("info", "old");
    await quiet();
    log.faults = [{ error: new Error("disk full"), isWritten: false }];
    void old?.job.log("info", "lost");
    await machine.clock.advance(2_000);
    const [, again] = machine.puppets;
    expect(again?.job.jobId).toBe(jobId);
    expect(old?.job.signal.aborted).toBe(true);
    await expect(old?.job.log("info", "late")).rejects.toMatchObject({ code: "CANCELLED" });
    await expect(old?.job.delegate("mortal")).rejects.toMatchObject({ code: "CANCELLED" });
    old?.end("late");
    await again?.job.log("info", "new");
    await quiet();
    expect(machine.kinds(jobId)).toEqual(["input", "log", "status", "log"]);
    expect([...jobs.state.jobs.byId.keys()]).toEqual([jobId]);
    expect(jobs.state.jobs.byId.get(jobId)?.job).toMatchObject({ status: "running", restarts: 1 });
  });
});

test("an agent that waits for a child job hears that its node leads no more", async () => {
  const machine = new Machine();
  const { jobs, engine } = await machine.start();
  await jobs.submit(jobOrder("mortal", { lease: { "agent.delegate": ["mortal"] } }));
  await quiet();
  const child = await machine.puppets[0]?.job.delegate("mortal");
  await quiet();
  await engine.close();
  expect(await child?.done).toMatchObject({ status: "error", code: "UNAVAILABLE" });
});

test("an agent starts when the answers of its commit have left", async () => {
  const machine = new Machine();
  const { jobs, engine } = await machine.start();
  const happened: string[] = [];
  await jobs.submit(jobOrder("mortal"));
  // As a connection does, which gathers what it sends in a turn.
  jobs.term.after(() => setImmediate(() => happened.push(`${machine.puppets.length} started`)));
  await quiet();
  expect(happened).toEqual(["0 started"]);
  expect(machine.puppets).toHaveLength(1);
  await engine.close();
});

test("a submit that waits for a policy is refused when its term is over meanwhile", async () => {
  const machine = new Machine();
  let allow: () => void = () => undefined;
  const entitle = () => new Promise<undefined>((resolve) => (allow = () => resolve(undefined)));
  const { jobs, log, engine } = await machine.start({}, "n1", { entitle });
  const submitted = Promise.resolve(jobs.submit(jobOrder("mortal")));
  submitted.catch(() => undefined);
  log.faults = [{ error: new Error("disk full"), isWritten: false }];
  await engine.execute(POLICY, LIBRARY).catch(() => undefined);
  await machine.clock.advance(2_000);
  expect(jobs.isLeading).toBe(true);
  allow();
  await expect(submitted).rejects.toMatchObject({ code: "UNAVAILABLE" });
  expect(jobs.state.jobs.byId.size).toBe(0);
});

describe("after a start", () => {
  test("a job that waited for a slot gets it when another ends, and runs", async () => {
    const machine = new Machine();
    const first = await machine.start({ running: 2 });
    for (let i = 0; i < 2; i += 1) await first.submit("mortal", "bob");
    const [next, waits] = [
      await first.submit("mortal", "bob"),
      await first.submit("mortal", "bob"),
    ];
    // A later job of another principal is before the second of them in turn.
    const later = await first.submit("mortal", "ann");
    for (const { end } of machine.puppets.splice(0)) end();
    await quiet();
    const statuses = [next, waits, later].map(first.statusOf);
    expect(statuses).toEqual(["running", "pending", "running"]);
    const second = await machine.start({ running: 2 });
    expect([next, later].map(second.statusOf)).toEqual(["error", "error"]);
    expect(second.statusOf(waits)).toBe("running");
    expect(machine.puppets.map(({ job }) => job.jobId)).toEqual([waits]);
  });

  test("with more slots than before all that fit in start at once", async () => {
    const machine = new Machine();
    const first = await machine.start({ running: 1 });
    const ids = [await first.submit("phoenix"), await first.submit("mortal")];
    ids.push(await first.submit("mortal", "bob"), await first.submit("mortal"));
    const second = await machine.start({ running: 3 });
    const statuses = ids.map(second.statusOf);
    expect(statuses).toEqual(["running", "running", "running", "pending"]);
    expect(machine.puppets).toHaveLength(3);
  });

  test("jobs of a node that is gone end, once, and those that waited there, too", async () => {
    const machine = new Machine();
    const first = await machine.start({ running: 2 }, "n1");
    const ids = [await first.submit("mortal"), await first.submit("phoenix")];
    ids.push(await first.submit("mortal"), await first.submit("phoenix"));
    const second = await machine.start({}, "n2");
    expect(machine.puppets).toEqual([]);
    for (const id of ids) {
      expect(second.jobs.state.jobs.byId.get(id)?.job).toMatchObject({
        node: "n1",
        status: "error",
        code: "UNAVAILABLE",
      });
      expect(machine.kinds(id).at(-1)).toBe("end");
    }
    await machine.start({}, "n1");
    expect(machine.puppets).toEqual([]);
    expect(machine.events().filter((type) => type === "job.ended")).toHaveLength(ids.length);
  });
});
