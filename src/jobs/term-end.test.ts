/** The end of a term of leading, as agents meet it: whatever they do then, the daemon goes on. */
import { expect, test } from "vitest";
import { namedBy } from "../core/by.ts";
import { rules, type Rules } from "../core/rules.ts";
import { Engine } from "../engine/engine.ts";
import { memoryStore } from "../log/memory/store.ts";
import { quiet, TestClock } from "../../test/support/engine/fixture.ts";
import { JobsCompanion, jobOrder, jobsOptions } from "../../test/support/jobs/fixture.ts";
import { JobAgents } from "./agents.ts";
import type { AgentFunction } from "./driver.ts";

async function start(agent: AgentFunction, given: Rules = rules) {
  const clock = new TestClock();
  const { log, streams } = memoryStore({ shared: false });
  const agents = new JobAgents();
  agents.register("agent", agent);
  const companion = new JobsCompanion(jobsOptions({ streams, agents, clock }));
  const engine = await Engine.open({ log, node: "n1", clock, companion, rules: given });
  await quiet();
  const { jobs } = companion;
  const lease = { "agent.delegate": ["agent"] };
  const by = namedBy("ann", "library");
  const { job } = await jobs.submit(jobOrder("agent", { by, lease }));
  await quiet();
  return { engine, clock, jobs, jobId: job.id };
}

test("an agent that cancels a child job when it is told to stop ends nothing else", async () => {
  const failures: unknown[] = [];
  let delegated = 0;
  const { engine } = await start(async (_, job) => {
    delegated += 1;
    const child = delegated === 1 ? await job.delegate("agent") : undefined;
    job.signal.addEventListener("abort", () => {
      try {
        child?.cancel("no longer wanted");
      } catch (error) {
        // Thrown in a listener it would end the process.
        failures.push(error);
      }
    });
    await new Promise<void>(() => undefined);
  });
  expect(delegated).toBe(2);
  await engine.close();
  expect(failures).toEqual([]);
});

test("a bug in the rules ends the term that met it, and not the daemon", async () => {
  let isBroken = true;
  const { engine, clock, jobs, jobId } = await start(() => "done", {
    ...rules,
    evolve(state, event, atMs) {
      const isBug = event.type === "job.ended" && isBroken;
      if (isBug) isBroken = false;
      if (isBug) throw new Error("a bug");
      rules.evolve(state, event, atMs);
    },
  });
  await clock.advance(2_000);
  expect(engine.mode).toBe("leading");
  expect(jobs.state.jobs.byId.get(jobId)?.job.status).toBe("error");
  await engine.close();
});
