/** §2.1, §5: what a job may do, until when, and for how much. */
import { expect, test } from "vitest";
import { quiet, START_MS } from "../../../../test/support/engine/fixture.ts";
import type { ArcpRuntime } from "./runtime.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

function agents(runtime: ArcpRuntime): void {
  runtime.registerAgent("echo", (input) => input);
  runtime.registerAgent("stubborn", () => new Promise<never>(() => undefined));
}

test('"At the instant: every operation ⇒ LEASE_EXPIRED", and the job ends by itself', async () => {
  const { open, clock } = await play({ agents });
  const peer = await open();
  const expires_at = new Date(START_MS + 60_000).toISOString();
  const { payload } = await peer.submit("stubborn", { lease_constraints: { expires_at } });
  expect(payload["lease_constraints"]).toEqual({ expires_at });
  await clock.advance(59_999);
  expect(peer.stream).toEqual([]);
  await clock.advance(1);
  expect(peer.stream).toMatchObject([
    { type: "job.error", payload: { code: "LEASE_EXPIRED", retryable: false } },
  ]);
});

test('"strictly in the future at submit else INVALID_REQUEST"', async () => {
  const { open } = await play({ agents });
  const peer = await open();
  const lease_constraints = { expires_at: new Date(START_MS).toISOString() };
  expect((await peer.submit("echo", { lease_constraints })).payload).toMatchObject({
    code: "INVALID_REQUEST",
  });
});

test('"gates toolCall automatically (denial becomes a tool_result error)"', async () => {
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("tools", async (_, job) => {
        const callId = await job.toolCall("search.web", { q: "arcp" });
        await job.toolResult(callId, ["found"]);
        await job.toolCall("shell.exec").catch(() => undefined);
        job.authorizeModel("tier-fast/cheap");
        return "done";
      }),
  });
  const peer = await open();
  await peer.submit("tools", {
    lease_request: { "tool.call": ["search.*"], "model.use": ["tier-fast/*"] },
  });
  await quiet();
  expect(peer.of("job.event").map(({ payload }) => payload["kind"])).toEqual([
    "tool_call",
    "tool_result",
    "tool_call",
    "tool_result",
  ]);
  expect(peer.of("job.event").at(-1)?.payload["body"].error).toMatchObject({
    code: "PERMISSION_DENIED",
  });
  expect(peer.of("job.result")).toHaveLength(1);
});

test('"0.70 + 0.40 against 1.00 blocks the next authorize"; what is left is told', async () => {
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("spender", async (_, job) => {
        await job.metric("cost.inference", 0.7, { unit: "USD" });
        job.authorize("tool.call", "x");
        await job.metric("cost.inference", 0.4, { unit: "USD" });
        await job.metric("cost.budget.remaining", 100, { unit: "USD" });
        const negative = job.metric("cost.refund", -5, { unit: "USD" });
        await expect(negative).rejects.toMatchObject({ code: "INVALID_ARGUMENT" });
        expect(job.budget).toEqual({ USD: "-0.1" });
        job.authorize("tool.call", "x");
      }),
  });
  const peer = await open();
  const lease_request = { "cost.budget": ["USD:0.50", "USD:0.50"], "tool.call": ["*"] };
  const { payload } = await peer.submit("spender", { lease_request });
  expect(payload["budget"]).toEqual({ USD: 1 });
  await quiet();
  const metrics = peer
    .of("job.event")
    .map(({ payload: { body } }) => `${String(body["name"])} ${String(body["value"])}`);
  expect(metrics).toEqual([
    "cost.inference 0.7",
    "cost.budget.remaining 0.3",
    "cost.inference 0.4",
    "cost.budget.remaining -0.1",
    "cost.budget.remaining 100",
  ]);
  expect(peer.last("job.error").payload).toMatchObject({
    code: "BUDGET_EXHAUSTED",
    retryable: false,
  });
});

test('budget echo: "values strings" for py, "values numbers" for the others', async () => {
  const { open } = await play({ agents });
  const lease_request = { "cost.budget": ["USD:2.50"] };
  const budgetOf = async (profile: "py" | "ts") =>
    (await (await open({ profile })).submit("echo", { lease_request })).payload["budget"];
  expect(await budgetOf("py")).toEqual({ USD: "USD:2.5" });
  expect(await budgetOf("ts")).toEqual({ USD: 2.5 });
});

test("features that were not agreed on are as if unsupported", async () => {
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("busy", async (_, job) => {
        await job.progress(1, { total: 2 });
        await job.thought("half way");
      }),
  });
  const peer = await open({ features: [] });
  peer.send("session.list_jobs", {});
  await quiet();
  expect(peer.last("session.error").payload).toMatchObject({ code: "INVALID_REQUEST" });
  const lease_request = { "cost.budget": ["USD:1"] };
  expect((await peer.submit("busy", { lease_request })).type).toBe("session.error");
  await peer.submit("busy");
  await quiet();
  expect(peer.stream.map(({ event_seq, payload }) => [event_seq, payload["kind"]])).toEqual([
    [1, "thought"],
    [2, undefined],
  ]);
});
