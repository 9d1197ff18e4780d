/** §5.7: who is given credentials, and for how long. */
import { expect, test } from "vitest";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { JobContext } from "../../../jobs/context.ts";
import type { IssuedCredential, Provisioner } from "../../../jobs/provisioner.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";

async function stage() {
  const revoked: string[] = [];
  let issued = 0;
  const provisioner: Provisioner = {
    async issue({ jobId }) {
      issued += 1;
      const endpoint = "https://models.example/v1";
      return [{ id: `cred_${jobId}`, scheme: "bearer", value: "sk-secret", endpoint }];
    },
    async revoke({ credentialIds }) {
      revoked.push(...credentialIds);
    },
  };
  const scene = await play({
    provisioner,
    agents: (runtime) => {
      runtime.registerAgent("done", () => "done");
      runtime.registerAgent("failing", () => Promise.reject(new Error("no")));
      runtime.registerAgent("waiting", (_, job: JobContext) => {
        return new Promise((resolve) => job.signal.addEventListener("abort", resolve));
      });
    },
  });
  return { ...scene, revoked, issued: () => issued };
}

test.each(["done", "failing", "cancelled", "timed out"])(
  '"revoked for all four terminal states": %s',
  async (how) => {
    const { open, clock, revoked } = await stage();
    const peer = await open();
    const agent = how === "done" || how === "failing" ? how : "waiting";
    const more = how === "timed out" ? { max_runtime_sec: 5 } : {};
    const { job_id } = await peer.submit(agent, more);
    if (how === "cancelled") peer.send("job.cancel", {}, { job_id });
    if (how === "timed out") await clock.advance(5_000);
    await quiet();
    expect(peer.stream).toHaveLength(1);
    expect(revoked).toEqual([`cred_${job_id}`]);
  },
);

test('"only when the session negotiated provisioned_credentials"', async () => {
  const { open, issued } = await stage();
  const peer = await open({ features: ["model.use"] });
  expect((await peer.submit("done")).payload).not.toHaveProperty("credentials");
  expect(issued()).toBe(0);
});

test('"Never in session.jobs"; nor for a subscriber, nor by a key after the end', async () => {
  const { open } = await stage();
  const [owner, other] = [await open(), await open()];
  const { job_id, payload } = await owner.submit("waiting", { idempotency_key: "k" });
  expect(JSON.stringify(payload)).toContain("sk-secret");
  other.send("session.list_jobs", {});
  other.send("job.subscribe", { job_id, history: true });
  owner.send("job.cancel", {}, { job_id });
  await quiet();
  expect((await other.submit("waiting", { idempotency_key: "k" })).job_id).toBe(job_id);
  await quiet();
  expect(other.stream.length).toBeGreaterThan(0);
  expect(other.wire.raw.join("\n")).not.toContain("sk-secret");
});

test("credentials that come after nobody waits for them any more are revoked, too", async () => {
  const revoked: string[] = [];
  let answer: (issued: readonly IssuedCredential[]) => void = () => undefined;
  const { open, clock } = await play({
    provisioner: {
      issue: () => new Promise((resolve) => (answer = resolve)),
      async revoke({ credentialIds }) {
        revoked.push(...credentialIds);
      },
    },
    agents: (runtime) => runtime.registerAgent("done", () => "done"),
  });
  const peer = await open();
  peer.send("job.submit", { agent: "done" });
  await clock.advance(4_000);
  await quiet();
  expect(peer.last("session.error").payload["code"]).toBe("INTERNAL_ERROR");
  answer([{ id: "cred_late", scheme: "bearer", value: "sk", endpoint: "https://x.example" }]);
  await quiet();
  expect(revoked).toEqual(["cred_late"]);
});

test("a value that came of a rotation after the job's end is revoked, too", async () => {
  const revoked: string[] = [];
  let answer: (rotated: IssuedCredential) => void = () => undefined;
  const credential: IssuedCredential = {
    id: "cred_1",
    scheme: "bearer",
    value: "sk-1",
    endpoint: "https://x.example",
  };
  const { open } = await play({
    provisioner: {
      issue: async () => [credential],
      rotate: () => new Promise((resolve) => (answer = resolve)),
      async revoke({ credentialIds }) {
        revoked.push(...credentialIds);
      },
    },
    agents: (runtime) =>
      runtime.registerAgent("hasty", (_, job: JobContext) => {
        void job.rotateCredential("cred_1").catch(() => undefined);
        return "done";
      }),
  });
  const peer = await open();
  await peer.submit("hasty");
  await quiet();
  expect(revoked).toEqual(["cred_1"]);
  answer({ ...credential, value: "sk-2" });
  await quiet();
  expect(revoked).toEqual(["cred_1", "cred_1"]);
});
