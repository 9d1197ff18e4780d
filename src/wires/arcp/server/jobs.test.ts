/** §2.9–§2.14, §4.6, §6: the life of a job, as its submitter sees it. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { JobContext } from "../../../jobs/context.ts";
import type { ArcpRuntime } from "./runtime.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

/** Runs until it is told to stop, and then some. */
const stubborn = () => new Promise<never>(() => undefined);
const polite = (_: unknown, job: JobContext) =>
  new Promise((resolve) => job.signal.addEventListener("abort", () => resolve("too late")));

function agents(runtime: ArcpRuntime): void {
  runtime.registerAgent("echo", (input) => input);
  runtime.registerAgent("stubborn", stubborn);
  runtime.registerAgent("polite", polite);
  runtime.registerAgent("failing", () => Promise.reject(new Error("out of paper")));
}

test('"reply to submits strictly in arrival order": refusals among acceptances too', async () => {
  const { open } = await play({ agents });
  const peer = await open({ profile: "ts" });
  const sent = ["echo", "nobody", "echo", "nobody"].map((agent) =>
    peer.send("job.submit", { agent }, { trace_id: "a".repeat(32) }),
  );
  await quiet();
  const answers = peer.frames.filter(
    ({ type, event_seq }) =>
      type === "job.accepted" || (type === "job.error" && event_seq === undefined),
  );
  expect(sent).toHaveLength(4);
  expect(answers.map(({ type }) => type)).toEqual([
    "job.accepted",
    "job.error",
    "job.accepted",
    "job.error",
  ]);
});

test.each([
  ["spec", "session.error"],
  ["py", "session.error"],
  ["ts", "job.error"],
] as const)("a refused submit is told to a %s client as %s", async (profile, type) => {
  const { open } = await play({ agents });
  const peer = await open({ profile });
  peer.send("job.submit", { agent: "nobody" });
  await quiet();
  const refusal = peer.frames.at(-1);
  expect(refusal).toMatchObject({ type, payload: { code: "AGENT_NOT_AVAILABLE" } });
  expect(refusal).not.toHaveProperty("event_seq");
  if (type === "job.error") expect(refusal?.job_id).toMatch(/^job_/);
});

test('"agent versions": the default, one by name, and one that is not there', async () => {
  const { open } = await play({
    agents: (runtime) => {
      runtime.registerAgent("code", () => "v1", { version: "1.0.0" });
      runtime.registerAgent("code", () => "v2", { version: "2.0.0", isDefault: true });
      runtime.registerAgent("code", () => "v3", { version: "3.0.0" });
    },
  });
  const peer = await open();
  const agentOf = async (agent: string) => (await peer.submit(agent)).payload;
  expect(await agentOf("code")).toMatchObject({ agent: "code@2.0.0" });
  expect(await agentOf("code@1.0.0")).toMatchObject({ agent: "code@1.0.0" });
  expect(await agentOf("code@9")).toMatchObject({ code: "AGENT_VERSION_NOT_AVAILABLE" });
  await quiet();
  expect(peer.of("job.result").map(({ payload }) => payload["result"])).toEqual(["v2", "v1"]);
});

test('"mint one and return it": a submit without trace_id gets one, others keep it', async () => {
  const { open } = await play({ agents });
  const peer = await open();
  const traceId = "5b8efff798038103d269b633813fc60c";
  const [minted, kept] = [
    await peer.submit("echo"),
    await peer.submit("echo", {}, { trace_id: traceId }),
  ];
  expect(minted.trace_id).toMatch(/^[0-9a-f]{32}$/);
  expect(kept.trace_id).toBe(traceId);
  expect(kept.payload["trace_id"]).toBe(traceId);
  await quiet();
  expect(peer.of("job.result").at(-1)?.trace_id).toBe(traceId);
});

test("a failing agent's text is the answer, under a code of the table", async () => {
  const { open } = await play({ agents });
  const peer = await open();
  await peer.submit("failing");
  await quiet();
  expect(peer.last("job.error").payload).toMatchObject({
    final_status: "error",
    code: "INTERNAL_ERROR",
    message: "out of paper",
    retryable: true,
  });
});

test.each([
  ["spec", "job.error", "cancelled"],
  ["ts", "job.error", "cancelled"],
  ["py", "job.result", "cancelled"],
] as const)("cancelled, for a %s client: %s %s", async (profile, type, final_status) => {
  const { open } = await play({ agents });
  const peer = await open({ profile });
  const { job_id } = await peer.submit("polite");
  peer.send("job.cancel", { reason: "operator" }, { job_id });
  await quiet();
  const after = peer.frames.slice(-2);
  expect(after).toMatchObject([
    { type: "job.cancelled", job_id, payload: { reason: "operator" } },
    { type, job_id, event_seq: 1, payload: { final_status } },
  ]);
});

test('"an agent that swallows cancellation" ends as cancelled when the grace is over', async () => {
  const { open, clock } = await play({ agents, limits: { cancelGraceMs: 5_000 } });
  const peer = await open();
  const { job_id } = await peer.submit("stubborn");
  peer.send("job.cancel", {}, { job_id });
  await clock.advance(4_999);
  expect(peer.stream).toEqual([]);
  await clock.advance(1);
  expect(peer.stream).toMatchObject([
    { type: "job.error", payload: { code: "CANCELLED", final_status: "cancelled" } },
  ]);
  peer.send("job.cancel", {}, { job_id });
  await quiet();
  expect(peer.of("job.cancelled")).toHaveLength(1);
  expect(peer.stream).toHaveLength(1);
});

test('"Queued jobs must also terminate": and jobs over the cap wait their turn', async () => {
  const { open } = await play({ agents, limits: { runningPerPrincipal: 1 } });
  const peer = await open();
  const first = await peer.submit("polite");
  const [second, third] = [await peer.submit("echo"), await peer.submit("echo")];
  peer.send("session.list_jobs", { filter: { status: ["pending"] } });
  peer.send("job.cancel", {}, { job_id: second.job_id });
  await quiet();
  expect(peer.last("session.jobs").payload["jobs"]).toHaveLength(2);
  expect(peer.stream).toMatchObject([{ job_id: second.job_id, payload: { code: "CANCELLED" } }]);
  peer.send("job.cancel", {}, { job_id: first.job_id });
  await quiet();
  expect(peer.stream.slice(1)).toMatchObject([
    { job_id: first.job_id, payload: { code: "CANCELLED" } },
    { job_id: third.job_id, type: "job.result" },
  ]);
});

test("slots go round: one who submits a thousand does not hold up another", async () => {
  const { open } = await play({ agents, limits: { running: 1 } });
  const [alice, bob] = [await open(), await open({ token: "bob-token" })];
  for (let i = 0; i < 10; i += 1) await alice.submit("polite");
  await bob.submit("echo");
  for (const { job_id } of alice.of("job.accepted").slice(0, 2)) {
    expect(bob.of("job.result")).toHaveLength(0);
    alice.send("job.cancel", {}, { job_id });
    await quiet();
  }
  expect(bob.of("job.result")).toHaveLength(1);
  expect(alice.stream).toHaveLength(2);
});

test("what may not even wait is refused, and may be sent again", async () => {
  const limits = { runningPerPrincipal: 1, queuedPerPrincipal: 1 };
  const { open } = await play({ agents, limits });
  const peer = await open();
  await peer.submit("stubborn");
  await peer.submit("stubborn");
  expect((await peer.submit("stubborn")).payload).toMatchObject({
    code: "INTERNAL_ERROR",
    retryable: true,
  });
});

test("strangers learn nothing: a foreign job and one that never was are one answer", async () => {
  const { open } = await play({ agents });
  const [alice, bob] = [await open(), await open({ token: "bob-token" })];
  const { job_id = "" } = await alice.submit("polite");
  const never = job_id.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const answerTo = async (type: string, id: string) => {
    bob.send(type, { job_id: id }, { job_id: id });
    await quiet();
    const { code, message } = bob.last("session.error").payload;
    return `${String(code)} ${String(message).replace(id, "ID")}`;
  };
  for (const type of ["job.cancel", "job.subscribe"]) {
    expect(await answerTo(type, job_id)).toBe(await answerTo(type, never));
    expect(await answerTo(type, job_id)).toContain("JOB_NOT_FOUND");
  }
  expect(alice.stream).toEqual([]);
  bob.send("session.list_jobs", {});
  await quiet();
  expect(bob.last("session.jobs").payload["jobs"]).toEqual([]);
});

test('"authority = submitting session": another of its principal only where allowed', async () => {
  for (const cancelBy of ["session", "principal"] as const) {
    const { open } = await play({ agents, cancelBy });
    const [one, other] = [await open(), await open()];
    const { job_id } = await one.submit("polite");
    other.send("job.cancel", {}, { job_id });
    await quiet();
    expect(one.stream).toHaveLength(cancelBy === "principal" ? 1 : 0);
    expect(other.of("session.error")).toHaveLength(cancelBy === "principal" ? 0 : 1);
  }
});

test.each([
  ["spec", "job.error", "TIMEOUT"],
  ["py", "job.result", undefined],
] as const)("max_runtime_sec for a %s client ends as timed_out", async (profile, type, code) => {
  const { open, clock } = await play({ agents });
  const peer = await open({ profile });
  await peer.submit("stubborn", { max_runtime_sec: 900 });
  await clock.advance(899_999);
  expect(peer.stream).toEqual([]);
  await clock.advance(1);
  expect(peer.stream).toMatchObject([{ type, payload: { final_status: "timed_out" } }]);
  expect(peer.stream[0]?.payload["code"]).toBe(code);
  if (code) expect(peer.stream[0]?.payload["retryable"]).toBe(true);
});

test("nothing follows the end of a job, whatever its agent still says", async () => {
  let zombie: JobContext | undefined;
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("zombie", (_, job) => {
        zombie = job;
        return "done";
      }),
  });
  const peer = await open();
  await peer.submit("zombie");
  await quiet();
  await expect(zombie?.log("info", "still here")).rejects.toMatchObject({ code: "CANCELLED" });
  void zombie?.thought("nobody awaits this");
  expect(() => zombie?.authorize("tool.call", "x")).toThrow(/is over/);
  await quiet();
  expect(peer.stream).toHaveLength(1);
});
