/** A job that spent its budget asks for a person: in the row of its agent, and in the inbox. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";
import { jobReport } from "../../../fleet/job-agents.ts";
import type { JobContext } from "../../../jobs/context.ts";

interface Puppet {
  readonly job: JobContext;
  readonly end: (value?: unknown) => void;
}

/** A parent and its children, which do what the test says. */
async function stage(...budget: readonly string[]) {
  const puppets: Puppet[] = [];
  const puppet = (_: unknown, job: JobContext) =>
    new Promise((end) => void puppets.push({ job, end }));
  const scene = await play({
    agents: (runtime) => {
      runtime.registerAgent("parent", puppet);
      runtime.registerAgent("child", puppet);
    },
  });
  const peer = await scene.open();
  const lease_request = { "agent.delegate": ["*"], "cost.budget": budget };
  const { job_id: jobId = "" } = await peer.submit("parent", { lease_request });
  await quiet();
  const at = (index: number): Puppet => {
    const found = puppets[index];
    if (!found) throw new Error(`no job ${index}`);
    return found;
  };
  const delegate = async (to: Puppet, granted?: string) => {
    const lease = { "agent.delegate": ["*"], ...(granted && { "cost.budget": [granted] }) };
    await to.job.delegate("child", { lease });
    await quiet();
    return at(puppets.length - 1);
  };
  /** Of the parent: in its row, and in the inbox. */
  const asked = () => {
    const { state } = scene.runtime.jobs;
    const rowId = [...state.jobs.byAgent.keys()].find((id) => id.endsWith(":parent")) ?? "";
    const row = jobReport(state, rowId)?.facts.question?.value;
    const open = state.questions.byId.get(state.questions.openOf.get(`job:${jobId}`) ?? "");
    return {
      row: row && { text: row.text, sinceMs: row.sinceMs },
      inbox: open && { text: open.question.text, sinceMs: open.question.sinceMs },
    };
  };
  return { ...scene, parent: at(0), delegate, asked };
}

async function spend({ job }: Puppet, amount: number): Promise<void> {
  await job.metric("cost.x", amount, { unit: "USD" });
  await quiet();
}

const NOTHING = { row: undefined, inbox: undefined };

function spentAt(sinceMs: number, currency = "USD") {
  const question = {
    text: `its budget in ${currency} is used up: cancel it, or let it end`,
    sinceMs,
  };
  return { row: question, inbox: question };
}

test("a job asks for nothing while a child has the money that it has not", async () => {
  const { parent, delegate, asked } = await stage("USD:1");
  const child = await delegate(parent, "USD:1");
  const grandchild = await delegate(child, "USD:1");
  await parent.job.log("info", "waits");
  await quiet();
  expect(asked()).toEqual(NOTHING);
  // The child's child has it still.
  child.end();
  await quiet();
  expect(asked()).toEqual(NOTHING);
  grandchild.end();
  await quiet();
  expect(parent.job.budget).toEqual({ USD: "1" });
  expect(asked()).toEqual(NOTHING);
});

test("a job that spent too much asks no longer once a child gave enough back", async () => {
  const { parent, delegate, asked, clock } = await stage("USD:2");
  const child = await delegate(parent, "USD:1");
  await clock.advance(5_000);
  await spend(parent, 1.5);
  const spentAtMs = clock.wallMs();
  expect(asked()).toEqual(spentAt(spentAtMs));
  await clock.advance(5_000);
  child.end();
  await quiet();
  expect(asked()).toEqual(NOTHING);
  await clock.advance(5_000);
  await spend(parent, 0.5);
  expect(asked()).toEqual(spentAt(spentAtMs + 10_000));
});

test("a job that spends too much and says nothing more asks at once", async () => {
  const { parent, asked, clock } = await stage("USD:1");
  await spend(parent, 0.5);
  await clock.advance(100);
  await spend(parent, 0.6);
  const spentAtMs = clock.wallMs();
  expect(asked()).toEqual(spentAt(spentAtMs));
  await clock.advance(3_600_000);
  expect(asked()).toEqual(spentAt(spentAtMs));
});

test("a job whose child spends the budget of both asks, though it says nothing", async () => {
  const { parent, delegate, asked, clock } = await stage("USD:1");
  const child = await delegate(parent);
  await clock.advance(5_000);
  await spend(child, 1);
  expect(asked()).toEqual(spentAt(clock.wallMs()));
});

test("a job asks for another currency where it has enough of the first again", async () => {
  const { parent, delegate, asked, clock } = await stage("USD:1", "EUR:1");
  const child = await delegate(parent, "USD:1");
  await parent.job.metric("cost.x", 1, { unit: "EUR" });
  await spend(parent, 0.1);
  const spentAtMs = clock.wallMs();
  expect(asked()).toEqual(spentAt(spentAtMs));
  child.end();
  await quiet();
  expect(asked()).toEqual(spentAt(spentAtMs, "EUR"));
});
