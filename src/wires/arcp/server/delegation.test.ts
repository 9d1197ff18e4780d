/** §5.8, §5.9, §5.7: children, and credentials. */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import { RollcallError } from "../../../core/errors.ts";
import type { JobContext } from "../../../jobs/context.ts";
import type { Provisioner, RevokeRequest } from "../../../jobs/provisioner.ts";
import { play, type PlayOptions } from "../../../../test/support/arcp/fixture.ts";

type Body = (job: JobContext) => Promise<unknown>;

/** A parent that does what the test says, with a child that spends and one that never ends. */
async function stage(body: Body, more: PlayOptions = {}) {
  const scene = await play({
    ...more,
    agents: (runtime) => {
      runtime.registerAgent("parent", (_, job) => body(job));
      runtime.registerAgent("spender", async (input, job) => {
        await job.metric("cost.x", Number(input), { unit: "USD" });
        return "spent";
      });
      runtime.registerAgent("endless", (_, job) => {
        return new Promise((_resolve, reject) => {
          job.signal.addEventListener("abort", () => reject(new Error("stopped")));
        });
      });
      runtime.registerAgent("nested", async (depth, job) => {
        const lease = { "agent.delegate": ["*"] };
        const child = await job.delegate("nested", { input: Number(depth) + 1, lease });
        return (await child.done).status;
      });
    },
  });
  const peer = await scene.open();
  const submit = async (lease_request: object) => {
    const accepted = await peer.submit("parent", { lease_request });
    await quiet();
    return accepted;
  };
  return { ...scene, peer, submit };
}

test("a child runs under a part of its parent's lease, in the same trace and stream", async () => {
  const { peer, submit } = await stage(async (job) => {
    const child = await job.delegate("spender", {
      input: 0.25,
      lease: { "cost.budget": ["USD:1"] },
    });
    const outcome = await child.done;
    return { outcome: outcome.status, left: job.budget };
  });
  const { job_id, trace_id } = await submit({
    "agent.delegate": ["*"],
    "cost.budget": ["USD:2"],
  });
  const accepted = peer.of("job.accepted").find(({ payload }) => payload["parent_job_id"]);
  expect(accepted).toMatchObject({ trace_id, payload: { parent_job_id: job_id } });
  const delegated = peer.of("job.event").find(({ payload }) => payload["kind"] === "delegate");
  expect(delegated?.payload["body"]).toMatchObject({
    agent: "spender",
    child_job_id: accepted?.job_id,
    delegate_id: accepted?.payload["delegate_id"],
  });
  expect(peer.of("job.result").map(({ job_id: id }) => id)).toEqual([accepted?.job_id, job_id]);
  // "Reserve the child's budget from the parent at creation"; what it left is given back.
  expect(peer.last("job.result").payload["result"]).toEqual({
    outcome: "success",
    left: { USD: "1.75" },
  });
});

/** A parent that delegates once when it is told to, and ends when its child did. */
async function delegating(profile: "py" | "ts") {
  let delegate: () => void = () => undefined;
  const told = new Promise<void>((resolve) => (delegate = resolve));
  const { open } = await stage(async (job) => {
    await told;
    const child = await job.delegate("spender", { input: 0 });
    return (await child.done).status;
  });
  const peer = await open({ profile });
  await peer.submit("parent", { lease_request: { "agent.delegate": ["*"] } });
  return { peer, delegate };
}

test("the TypeScript SDK is sent a child's job.accepted before what the child says", async () => {
  const { peer, delegate } = await delegating("ts");
  delegate();
  await quiet();
  const [parent, child] = peer.of("job.accepted");
  const event = peer.of("job.event").find(({ payload }) => payload["kind"] === "delegate");
  expect(child?.payload).toMatchObject({
    parent_job_id: parent?.job_id,
    delegate_id: event?.payload.body["delegate_id"],
    trace_id: parent?.payload["trace_id"],
  });
  const order = peer.frames.filter(({ job_id }) => job_id === child?.job_id);
  expect(order.map(({ type }) => type)).toEqual(["job.accepted", "job.event", "job.result"]);
});

test("a TypeScript client that submits meanwhile is sent none: it would mistake it", async () => {
  const { peer, delegate } = await delegating("ts");
  await peer.submit("endless");
  delegate();
  await quiet();
  expect(peer.of("job.accepted")).toHaveLength(2);
  expect(peer.last("job.result").payload["result"]).toBe("success");
});

test("the Python SDK is not sent a child's job.accepted: it would mistake it", async () => {
  const { peer, delegate } = await delegating("py");
  delegate();
  await quiet();
  expect(peer.of("job.accepted")).toHaveLength(1);
  expect(peer.last("job.result").payload["result"]).toBe("success");
});

test.each([
  ["PERMISSION_DENIED", { "agent.delegate": ["other"] }, {}],
  ["LEASE_SUBSET_VIOLATION", { "agent.delegate": ["*"] }, { lease: { "fs.read": ["/a"] } }],
  [
    "LEASE_SUBSET_VIOLATION",
    { "agent.delegate": ["*"], "fs.read": ["/a/*"] },
    { lease: { "fs.read": ["/a/**"] } },
  ],
  [
    "LEASE_SUBSET_VIOLATION",
    { "agent.delegate": ["*"], "cost.budget": ["USD:1"] },
    { lease: { "cost.budget": ["USD:1.01"] } },
  ],
] as const)("%s is a tool_result on the parent, which goes on", async (code, lease, how) => {
  const { peer, submit } = await stage(async (job) => {
    const failed = await job.delegate("endless", how).catch((error: unknown) => error);
    return failed instanceof RollcallError ? failed.code : "no error";
  });
  await submit(lease);
  const [delegate, result] = peer.of("job.event");
  expect(delegate?.payload).toMatchObject({ kind: "delegate", body: { agent: "endless" } });
  expect(result?.payload).toMatchObject({
    kind: "tool_result",
    body: { call_id: delegate?.payload["body"]["delegate_id"], error: { code } },
  });
  expect(peer.last("job.result").payload["result"]).toBe(code);
});

test("siblings cannot spend the same money twice", async () => {
  const { peer, submit } = await stage(async (job) => {
    const lease = { "cost.budget": ["USD:0.6"] };
    await job.delegate("endless", { lease });
    return job.delegate("endless", { lease }).catch(String);
  });
  await submit({ "agent.delegate": ["*"], "cost.budget": ["USD:1"] });
  expect(peer.of("job.result").at(-1)?.payload["result"]).toContain("USD 0.6 asked");
});

test("when a parent ends its children end", async () => {
  const { peer, submit } = await stage(async (job) => {
    await job.delegate("endless");
    return "gone";
  });
  await submit({ "agent.delegate": ["*"] });
  await quiet();
  expect(peer.last("job.error").payload).toMatchObject({ final_status: "cancelled" });
  expect(peer.last("job.error").payload["message"]).toContain("parent");
});

test('"Cap depth and fan-out"', async () => {
  const limits = { depth: 3, childrenAtOnce: 2, children: 3 };
  const { peer, open } = await stage(
    async (job) => {
      const children = [await job.delegate("endless"), await job.delegate("endless")];
      const tooMany = await job.delegate("endless").catch(String);
      children[0]?.cancel();
      await children[0]?.done;
      await job.delegate("endless");
      return tooMany;
    },
    { limits },
  );
  await peer.submit("parent", { lease_request: { "agent.delegate": ["*"] } });
  await quiet();
  expect(peer.of("job.result").at(-1)?.payload["result"]).toContain("at most 3 children");
  const deep = await open();
  await deep.submit("nested", { input: 0, lease_request: { "agent.delegate": ["*"] } });
  await quiet();
  expect(deep.of("job.error").at(-1)?.payload["message"]).not.toBe("");
  const refused = deep.of("job.event").filter(({ payload }) => payload["kind"] === "tool_result");
  expect(refused[0]?.payload["body"].error.message).toContain("at most 3 deep");
});

test('"client-supplied parent_job_id": nobody is a child by its own word', async () => {
  const { peer, submit, open } = await stage(() => new Promise(() => undefined));
  const { job_id: parent_job_id } = await submit({ "agent.delegate": ["spender"] });
  const bob = await open({ token: "bob-token" });
  const stranger = await bob.submit("spender", { parent_job_id });
  expect(stranger.payload["code"]).toBe("JOB_NOT_FOUND");
  const wider = { parent_job_id, lease_request: { "fs.read": ["/**"] } };
  expect((await peer.submit("spender", wider)).payload["code"]).toBe("LEASE_SUBSET_VIOLATION");
  const child = await peer.submit("spender", { parent_job_id, input: 0 });
  expect(child).toMatchObject({ type: "job.accepted", payload: { parent_job_id } });
});

function provisioner() {
  const events: string[] = [];
  const failing = { revokes: 0 };
  const made: Provisioner = {
    async issue({ jobId, constraints }) {
      events.push(`issue ${JSON.stringify(constraints)}`);
      const endpoint = "https://models.example/v1";
      return [{ id: `cred_${jobId}`, scheme: "bearer", value: "sk-1", endpoint, constraints }];
    },
    async revoke({ credentialIds }: RevokeRequest) {
      if (failing.revokes > 0) {
        failing.revokes -= 1;
        throw new Error("not now");
      }
      events.push(`revoke ${credentialIds.length}`);
    },
    async rotate({ credentialIds: [id = ""] }) {
      return { id, scheme: "bearer", value: "sk-2", endpoint: "https://models.example/v1" };
    },
  };
  return { made, events, failing };
}

test("credentials: issued before job.accepted, bounded by the lease, revoked after", async () => {
  const { made, events } = provisioner();
  const { peer, submit } = await stage(async () => "done", { provisioner: made });
  const accepted = await submit({ "model.use": ["tier-fast/*"], "cost.budget": ["USD:1"] });
  expect(accepted.payload["credentials"]).toMatchObject([{ scheme: "bearer", value: "sk-1" }]);
  expect(events).toEqual([
    'issue {"cost.budget":["USD:1"],"model.use":["tier-fast/*"]}',
    "revoke 1",
  ]);
  expect(peer.of("job.result")).toHaveLength(1);
});

test("a revocation that fails is tried again, later and later, until it is done", async () => {
  const { made, events, failing } = provisioner();
  const { submit, clock, troubles } = await stage(async () => "done", { provisioner: made });
  failing.revokes = 3;
  await submit({});
  expect(troubles).toHaveLength(1);
  await clock.advance(1_000);
  await clock.advance(2_000);
  expect(events).toEqual(["issue {}"]);
  await clock.advance(4_000);
  expect(events).toEqual(["issue {}", "revoke 1"]);
});

test('"provisioning failure ⇒ refuse the submit with INTERNAL_ERROR"; none is left', async () => {
  const { made, events } = provisioner();
  const failing: Provisioner = { ...made, issue: () => Promise.reject(new Error("secret")) };
  const { peer, submit } = await stage(async () => "done", { provisioner: failing });
  const refusal = await submit({});
  expect(refusal).toMatchObject({ type: "session.error", payload: { code: "INTERNAL_ERROR" } });
  expect(JSON.stringify(refusal)).not.toContain("secret");
  expect(events).toEqual(["revoke 0"]);
  expect(peer.stream).toEqual([]);
});

test("answers stay in order though one submit waits for its credentials", async () => {
  const { made } = provisioner();
  let go: () => void = () => undefined;
  const slow: Provisioner = {
    ...made,
    issue: async (request) => {
      await new Promise<void>((resolve) => (go = resolve));
      return made.issue(request);
    },
  };
  const { peer } = await stage(async () => "done", { provisioner: slow });
  const sent = [
    peer.send("job.submit", { agent: "parent" }),
    peer.send("job.submit", { agent: "no" }),
  ];
  await quiet();
  expect(peer.frames).toHaveLength(1);
  go();
  await quiet();
  const answered = peer.frames
    .slice(1)
    .map(({ payload }) => payload["request_id"] ?? payload["details"]?.request_id)
    .filter((id) => id !== undefined);
  expect(answered).toEqual(sent);
});

test('"{phase,id,value} for the submitter and {phase,id} for a subscriber"', async () => {
  const { made } = provisioner();
  let rotate: () => Promise<unknown> = async () => undefined;
  const { peer, submit, open, medium } = await stage(
    (job) => {
      rotate = () => job.rotateCredential(job.credentials[0]?.id ?? "");
      return new Promise(() => undefined);
    },
    { provisioner: made },
  );
  const { job_id } = await submit({});
  const live = await open();
  live.send("job.subscribe", { job_id });
  await quiet();
  await rotate();
  await quiet();
  const late = await open();
  late.send("job.subscribe", { job_id, history: true });
  await quiet();
  const id = `cred_${job_id}`;
  expect(peer.stream[0]?.payload["body"]).toEqual({
    phase: "credential_rotated",
    id,
    value: "sk-2",
  });
  for (const subscriber of [live, late]) {
    expect(subscriber.stream[0]?.payload["body"]).toEqual({ phase: "credential_rotated", id });
  }
  expect(late.last("job.subscribed").payload).not.toHaveProperty("credentials");
  // A value is held in memory while its job runs, and never written.
  expect(inspect(medium, { depth: null })).toContain(id);
  expect(inspect(medium, { depth: null })).not.toMatch(/sk-\d/);
});
