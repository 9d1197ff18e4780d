/** Files of an older program are opened, and nobody who was there before misses anything. */
import { expect, test } from "vitest";
import * as agents from "../../../../test/fixtures/ledger/agents.mjs";
import type { Frame, Seen } from "../../../../test/fixtures/ledger/client.ts";
import { play, type Play, type TestPeer } from "../../../../test/support/arcp/fixture.ts";
import { inMemory, runtimeFile } from "../../../../test/support/arcp/old-file.ts";
import { quiet, START_MS, TestClock } from "../../../../test/support/engine/fixture.ts";
import type { Provisioner } from "../../../jobs/provisioner.ts";
import { memoryStore } from "../../../log/memory/store.ts";
import type { ArcpRuntime } from "../server/runtime.ts";
import { staticTokens } from "../server/verifiers.ts";
import type { LedgerSize } from "./import.ts";

const { goOn: _, ...functions } = agents;

function register(runtime: ArcpRuntime): void {
  for (const [name, agent] of Object.entries(functions)) {
    runtime.registerAgent(name, agent, { restart: name === "phoenix" ? "always" : "never" });
  }
}

/** The runtime of today on the file of the old one, one second after that ended. */
async function opened() {
  const file = runtimeFile();
  const medium = await inMemory(file);
  const clock = new TestClock();
  clock.stepWall(file.atMs + 1000 - START_MS);
  const revoked: string[] = [];
  const imports: LedgerSize[] = [];
  const provisioner: Provisioner = {
    issue: async () => [],
    revoke: async ({ credentialIds }) => void revoked.push(...credentialIds),
  };
  const start = () =>
    play({
      medium,
      clock,
      agents: register,
      bearer: staticTokens({ alice: "alice", bob: "bob" }),
      limits: { runningPerPrincipal: 6 },
      provisioner,
      onImport: (found) => imports.push(found),
    });
  const scene = await start();
  await quiet();
  return { ...file, ...scene, start, revoked, imports };
}

/** The client of the old program comes back, as it would have there. */
async function back(
  scene: Play,
  seen: Seen,
  { last = seen.frames.length, token = seen.tokens.at(-1) ?? "" } = {},
): Promise<TestPeer> {
  const { token: bearer, profile, features, sessionId } = seen;
  const peer = scene.connect();
  const resume = { session_id: sessionId, resume_token: token, last_event_seq: last };
  await peer.hello({ token: bearer, profile, features, resume });
  await quiet();
  return peer;
}

/** Ids are made anew; the trace of a job that is forgotten went with it. */
function saidBy(frames: readonly Frame[]): readonly object[] {
  return frames.map(({ type, job_id, event_seq, payload }) => ({
    type,
    job_id,
    event_seq,
    payload,
  }));
}

test.each(["alice", "follower", "plain", "bob"] as const)(
  "%s resumes with the old token and gets every frame after the last number",
  async (name) => {
    const scene = await opened();
    const seen = scene.clients[name];
    const before = seen.frames.length;
    const peer = await back(scene, seen, { last: 0 });
    expect(saidBy(peer.stream.slice(0, before) as Frame[])).toEqual(saidBy(seen.frames));
    peer.lose();
    const half = Math.floor(before / 2);
    const again = await back(scene, seen, { last: half, token: peer.token });
    expect(again.stream).toEqual(peer.stream.slice(half));
  },
);

test("a client that never heard of its new token resumes with the one before it", async () => {
  const scene = await opened();
  const { follower } = scene.clients;
  const [before = ""] = follower.tokens;
  const peer = await back(scene, follower, { token: before });
  expect(peer.frames[0]).toMatchObject({ type: "session.welcome" });
});

test("a session that was gone is gone, and its job is not", async () => {
  const scene = await opened();
  const { gone, alice } = scene.clients;
  const late = await back(scene, gone);
  expect(late.frames[0]).toMatchObject({ payload: { code: "RESUME_WINDOW_EXPIRED" } });
  const peer = await back(scene, alice);
  const job_id = scene.jobs.gone;
  peer.send("job.subscribe", { job_id, history: true }, { job_id });
  await quiet();
  expect(peer.stream.filter((frame) => frame.job_id === job_id)).toMatchObject([
    { payload: { body: { message: "echo started" } } },
    { payload: { final_status: "success", result: { echoed: "gone" } } },
  ]);
});

test("jobs are listed as they were; those that ran have ended, or run again", async () => {
  const scene = await opened();
  const { jobs, clients } = scene;
  const alice = await back(scene, clients.alice);
  alice.send("session.list_jobs", {});
  const bob = await back(scene, clients.bob);
  bob.send("session.list_jobs", {});
  await quiet();
  const listed = alice.last("session.jobs").payload.jobs;
  expect(Object.fromEntries(listed.map(({ job_id, status }) => [job_id, status]))).toEqual({
    [jobs.gone]: "success",
    [jobs.done]: "success",
    [jobs.failed]: "error",
    [jobs.streamed]: "success",
    [jobs.keyed]: "success",
    [jobs.late]: "timed_out",
    [jobs.cancelled]: "cancelled",
    [jobs.phoenix]: "running",
    [jobs.parent]: "error",
    [jobs.child]: "error",
    [jobs.cancelling]: "cancelled",
    [jobs.stepping]: "error",
  });
  const own = alice.last("session.jobs").payload.jobs.find(({ job_id }) => job_id === jobs.done);
  const last = clients.alice.frames.findLast(({ job_id }) => job_id === jobs.done);
  expect(own).toMatchObject({ agent: "talk", last_event_seq: last?.event_seq });
  // Six ran and ended with their process; the two that waited run now.
  const states = bob.last("session.jobs").payload.jobs.map(({ status }) => status);
  expect(states).toEqual([
    "error",
    "error",
    "error",
    "error",
    "error",
    "error",
    "running",
    "running",
  ]);
  expect(bob.stream.slice(-2)).toMatchObject([
    { payload: { body: { message: "waits with 6" } } },
    { payload: { body: { message: "waits with 7" } } },
  ]);
});

test("a job that its process left unfinished ends with an error that may be retried", async () => {
  const scene = await opened();
  const { jobs, clients } = scene;
  const peer = await back(scene, clients.alice);
  const ends = peer.stream.filter(({ type }) => type === "job.error");
  const died = { code: "INTERNAL_ERROR", retryable: true };
  expect(ends.map(({ job_id, payload }) => [job_id, payload])).toEqual([
    [jobs.cancelling, expect.objectContaining({ code: "CANCELLED", message: "too late" })],
    [jobs.child, expect.objectContaining(died)],
    [jobs.parent, expect.objectContaining(died)],
  ]);
});

test("a job that runs again has its input, and what was left of its budget", async () => {
  const scene = await opened();
  const { jobs, clients } = scene;
  const follower = await back(scene, clients.follower);
  const told = follower.stream.filter(({ job_id }) => job_id === jobs.phoenix);
  expect(told.map(({ payload }) => payload.body)).toEqual([
    { phase: "restarted" },
    { name: "cost.inference", value: 1.25, unit: "USD" },
    { name: "cost.budget.remaining", value: 2.5, unit: "USD" },
    { level: "info", message: 'waits, {"USD":"2.5"} left' },
  ]);
});

test("a key is still that of the job it was used for", async () => {
  const scene = await opened();
  const { jobs, clients } = scene;
  const peer = await back(scene, clients.alice);
  const once = { idempotency_key: "once" };
  const same = await peer.submit("echo", { ...once, input: { n: 1 } });
  expect(same).toMatchObject({ type: "job.accepted", payload: { job_id: jobs.keyed } });
  const other = await peer.submit("echo", { ...once, input: { n: 2 } });
  expect(other).toMatchObject({ payload: { code: "DUPLICATE_KEY" } });
});

test("a client that sends a submit once more is told of the same job", async () => {
  const scene = await opened();
  const { jobs, clients } = scene;
  const peer = await back(scene, clients.alice);
  const { requestId } = scene.runtime.jobs.state.jobs.byId.get(jobs.phoenix)?.job ?? {};
  peer.send("job.submit", { agent: "phoenix" }, { id: requestId });
  await quiet();
  expect(peer.last("job.accepted").payload).toMatchObject({ job_id: jobs.phoenix });
});

test("credentials that were out are revoked", async () => {
  const { jobs, revoked } = await opened();
  const ofAlice = [jobs.failed, jobs.phoenix, jobs.parent, jobs.cancelling];
  expect(revoked.sort()).toEqual(ofAlice.map((id) => `cred_${id}`).sort());
});

test("the file is taken over once, and the next start finds what this one left", async () => {
  const scene = await opened();
  const { clients, imports, medium } = scene;
  const peer = await back(scene, clients.alice, { last: 0 });
  expect(imports).toEqual([{ jobs: 20, sessions: 5 }]);
  const { streams, log } = memoryStore({ medium, shared: false });
  await log.open();
  const names: string[] = [];
  for await (const { stream } of streams.ranges("arcp/")) names.push(stream);
  expect(names).toEqual([]);
  await scene.runtime.close();
  const next = await scene.start();
  const again = await back(next, clients.alice, { last: 0, token: peer.token });
  expect(imports).toHaveLength(1);
  const before = peer.stream.length;
  expect(again.stream.slice(0, before)).toEqual(peer.stream);
});
