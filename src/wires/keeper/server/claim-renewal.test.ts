import { create } from "@bufbuild/protobuf";
import { afterEach, expect, test } from "vitest";
import type { Engine } from "../../../engine/engine.ts";
import { openEngine, register, type Fixture } from "../../../../test/support/engine/fixture.ts";
import { HeartbeatRequestSchema } from "../gen/agentkeeper/v1/agentkeeper_pb.ts";
import { registryService } from "./registry-service.ts";
import { byOf, LIBRARY } from "../../../core/by.ts";
import type { Actor } from "../../../core/acting.ts";
import { LOCAL } from "../../../core/principals.ts";
import { permitBy } from "../../../operations/access.ts";

let opened: Fixture | undefined;

afterEach(() => opened?.engine.close());

/** An agent with a task in hand. */
async function claimed() {
  opened = await openEngine();
  const { engine, clock } = opened;
  const agentId = await register(engine, 3_600_000);
  const task = { taskType: "x", input: "", requiredTools: [], maxRetries: 0, ttlMs: 10_000 };
  await engine.execute({ type: "task.create", ...task }, LIBRARY);
  const claim = await engine.execute({ type: "task.claim", agentId }, LIBRARY);
  if (!claim) throw new Error("there is no task");
  return { engine, clock, agentId, claim };
}

/** A heartbeat with this beside it, and what is told beside the answer. */
async function beat(
  engine: Engine,
  { agentId, by = LIBRARY }: Partial<Actor> & Pick<Actor, "agentId">,
  sent: Readonly<Record<string, string>>,
) {
  const told: Record<string, string> = {};
  const { heartbeat } = registryService(
    engine,
    { find: () => Promise.resolve([]) },
    permitBy(engine),
  );
  await heartbeat(create(HeartbeatRequestSchema, { agentId }), {
    by,
    signal: new AbortController().signal,
    header: (name) => sent[name],
    tell: (name, value) => (told[name] = value),
  });
  return told;
}

test("a heartbeat that names a task keeps its claim, and tells for how long", async () => {
  const { engine, clock, agentId, claim } = await claimed();
  const sent = {
    "rollcall-renew-task": claim.id,
    "rollcall-fencing-token": String(claim.token),
  };
  for (let i = 0; i < 5; i += 1) {
    await clock.advance(8_000);
    expect(await beat(engine, { agentId }, sent)).toEqual({ "rollcall-claim-ttl-ms": "10000" });
  }
  await clock.advance(11_000);
  await expect(beat(engine, { agentId }, sent)).rejects.toMatchObject({ code: "WRONG_STATE" });
});

test("a heartbeat renews no task that a policy denies its caller", async () => {
  const { engine, agentId, claim } = await claimed();
  const denial = { subject: "role:operator", action: "task.renew", resource: `task:${claim.id}` };
  const policy = { id: "no", ...denial, effect: "deny" } as const;
  await engine.execute({ type: "policy.set", policy }, LIBRARY);
  const by = byOf({ ...LOCAL, name: "token:op", roles: ["operator"] }, "grpc");
  const sent = { "rollcall-renew-task": claim.id };
  await expect(beat(engine, { agentId, by }, sent)).rejects.toThrow("may not task.renew");
  await expect(beat(engine, { agentId, by }, {})).resolves.toEqual({});
});

test("a heartbeat that names none keeps the agent alone", async () => {
  const { engine, clock, agentId, claim } = await claimed();
  await clock.advance(8_000);
  expect(await beat(engine, { agentId }, {})).toEqual({});
  await clock.advance(3_000);
  const task = await engine.read(({ tasks }) => tasks.byId.get(claim.id)?.task);
  expect(task?.status).toBe("dead");
});

test.each([
  ["a token that is not the current one", { "rollcall-fencing-token": "999" }, "WRONG_STATE"],
  ["a token that is no number", { "rollcall-fencing-token": "x" }, "INVALID_ARGUMENT"],
  ["a task that nobody knows", { "rollcall-renew-task": "nothing" }, "NOT_FOUND"],
])("%s renews nothing", async (_what, sent, code) => {
  const { engine, agentId, claim } = await claimed();
  const all = { "rollcall-renew-task": claim.id, ...sent };
  await expect(beat(engine, { agentId }, all)).rejects.toMatchObject({ code });
});
