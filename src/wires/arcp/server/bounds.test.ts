/** Limits of frames, pages and sessions; and faults of observers. */
import { expect, test } from "vitest";
import { RollcallError } from "../../../core/errors.ts";
import { quiet } from "../../../../test/support/engine/fixture.ts";
import type { ArcpRuntime } from "./runtime.ts";
import { play } from "../../../../test/support/arcp/fixture.ts";
import { MIB } from "../../../core/units.ts";

function agents(runtime: ArcpRuntime): void {
  runtime.registerAgent("echo", (input) => input);
}

test('"never send > 1 MiB to anyone": a large result comes in chunks', async () => {
  const { open } = await play({ agents });
  const peer = await open();
  // Quotes double in JSON, and other characters take more bytes than they count.
  const input = '"é"'.repeat(400_000);
  await peer.submit("echo", { input });
  await quiet();
  const chunks = peer.of("job.event").map(({ payload }) => payload.body);
  const text = Buffer.concat(
    chunks.map(({ data, encoding }) =>
      Buffer.from(String(data), encoding === "base64" ? "base64" : "utf8"),
    ),
  ).toString();
  expect(JSON.parse(text)).toBe(input);
  expect(chunks.at(-1)).toMatchObject({ data: "", more: false });
  expect(peer.last("job.result").payload).toMatchObject({
    result_id: chunks[0]?.["result_id"],
    result_size: Buffer.byteLength(text),
  });
  expect(peer.last("job.result").payload).not.toHaveProperty("result");
  for (const frame of peer.wire.raw) expect(Buffer.byteLength(frame)).toBeLessThan(MIB);
});

test("an event that no peer could be sent is refused to the agent that says it", async () => {
  let refusal: unknown;
  const { open } = await play({
    agents: (runtime) =>
      runtime.registerAgent("huge", async (_, job) => {
        const body = { blob: "x".repeat(MIB) };
        refusal = await job.emit("x-vendor.acme.blob", body).catch((error: unknown) => error);
      }),
  });
  const peer = await open();
  await peer.submit("huge");
  await quiet();
  expect(refusal).toMatchObject({ code: "TOO_LARGE" });
  expect(peer.stream).toMatchObject([{ type: "job.result" }]);
});

test("a page of jobs with long leases ends early, and the next one goes on", async () => {
  const { open } = await play({ agents });
  const peer = await open();
  const patterns = Array.from({ length: 120 }, (_, i) => `/${"d".repeat(900)}/${i}/**`);
  for (let i = 0; i < 12; i += 1)
    await peer.submit("echo", { lease_request: { "fs.read": patterns } });
  let seen = 0;
  let cursor: unknown = null;
  do {
    peer.send("session.list_jobs", { cursor });
    await quiet();
    const { jobs, next_cursor } = peer.last("session.jobs").payload;
    seen += jobs.length;
    cursor = next_cursor;
  } while (cursor !== null);
  expect(seen).toBe(12);
  expect(peer.of("session.jobs").length).toBeGreaterThan(1);
  for (const frame of peer.wire.raw) expect(frame.length).toBeLessThan(MIB);
  const more = Array.from({ length: 200 }, (_, i) => `/${"d".repeat(900)}/${i}/**`);
  const refused = await peer.submit("echo", { lease_request: { "fs.read": more } });
  expect(refused.payload).toMatchObject({ code: "INVALID_REQUEST" });
});

test("sessions that are gone do not count, though their jobs can still be asked for", async () => {
  const { open, clock, runtime } = await play({ agents, sessions: { perPrincipal: 1 } });
  for (let i = 0; i < 3; i += 1) {
    const peer = await open();
    await peer.submit("echo");
    await quiet();
    peer.lose();
    await clock.advance(700_000);
  }
  expect(runtime.stats()).toMatchObject({ sessions: 0, jobs: 3 });
});

test("observers are told in order, and one that fails takes nothing from anybody", async () => {
  const told: string[] = [];
  const { open, troubles } = await play({
    agents: (runtime) =>
      runtime.registerAgent("talker", async (_, job) => {
        await job.thought("hm");
        return 1;
      }),
    observers: [
      {
        onAccepted: () => {
          throw new Error("not interested");
        },
      },
      {
        onAccepted: ({ job }) => told.push(`accepted ${job.principal} ${job.agent}`),
        onStarted: () => told.push("started"),
        onEvent: (_, { kind }) => told.push(kind),
        onEnded: (_, { status }) => told.push(status),
      },
    ],
  });
  const peer = await open();
  await peer.submit("talker");
  await quiet();
  expect(told).toEqual(["accepted alice talker", "started", "thought", "success"]);
  expect(troubles).toEqual(["an observer of jobs failed"]);
  expect(peer.of("job.result")).toHaveLength(1);
});

test("an authorizer refuses a submit, and bounds what is granted", async () => {
  const { open } = await play({
    agents,
    authorizer: {
      entitle: async ({ principal, agent }) => {
        if (principal === "bob") {
          throw new RollcallError("PERMISSION_DENIED", `not ${agent}`);
        }
        return { denied: { "fs.read": ["/secret/**"] }, beyond: "refuse" };
      },
    },
  });
  const [alice, bob] = [await open(), await open({ token: "bob-token" })];
  const leaseOf = (path: string) => ({ lease_request: { "fs.read": [path] } });
  expect((await bob.submit("echo")).payload).toMatchObject({ code: "PERMISSION_DENIED" });
  expect((await alice.submit("echo", leaseOf("/data/*"))).type).toBe("job.accepted");
  expect((await alice.submit("echo", leaseOf("/**"))).payload).toMatchObject({
    code: "PERMISSION_DENIED",
  });
});
