import { expect, test } from "vitest";
import { byOf, LIBRARY } from "./by.ts";
import { FIELD, TTL } from "./limits.ts";
import { LOCAL } from "./principals.ts";
import { fingerprint } from "./snapshot.ts";
import { DAY, SECOND, START_MS, taskCreate, World } from "../../test/support/core/fixture.ts";

function base64Of(bytes: number): string {
  return Buffer.alloc(bytes).toString("base64");
}

test("a new task waits, with everything that was said about it", () => {
  const world = new World();
  const task = world.run(
    taskCreate({ input: "aGk=", requiredTools: ["sql", "browser", "sql"], maxRetries: 3 }),
  );
  expect(task).toMatchObject({
    type: "scrape",
    input: "aGk=",
    status: "pending",
    requiredTools: ["browser", "sql"],
    maxRetries: 3,
    retryCount: 0,
    createdAtMs: START_MS,
  });
  expect(task.id).toMatch(/^[0-9a-f]{32}$/);
  expect(world.history).toEqual([{ type: "task.created", task }]);
});

test("no ttl means the default", () => {
  expect(new World().run(taskCreate({ ttlMs: 0 })).ttlMs).toBe(TTL.taskDefaultMs);
});

test("the task that has waited longest is claimed first", () => {
  const world = new World();
  const agentId = world.register();
  const ids = [world.create(), world.create(), world.create()];
  expect([world.claim(agentId), world.claim(agentId), world.claim(agentId)]).toEqual(ids);
});

test("a claim says who has the task, until when, and with which token", () => {
  const world = new World();
  const agentId = world.register();
  const taskId = world.create({ ttlMs: 5 * SECOND });
  const task = world.run({ type: "task.claim", agentId });
  expect(task).toMatchObject({
    id: taskId,
    status: "claimed",
    claimedBy: agentId,
    token: 1,
    claimedAtMs: START_MS,
    expiresAtMs: START_MS + 5 * SECOND,
  });
  expect(task).toEqual(world.task(taskId));
});

// "ClaimTask blocks; when the caller cancels or its deadline passes, nothing is claimed."
test("where nothing fits, nothing is claimed and nothing is recorded", () => {
  const world = new World();
  const agentId = world.register({ tools: ["shell"] });
  world.create({ requiredTools: ["shell", "sql"] });
  expect(world.topicsOf(() => expect(world.claim(agentId)).toBeUndefined())).toEqual([]);
});

test("a task goes only to an agent that has all the tools it needs", () => {
  const world = new World();
  const plain = world.register();
  const able = world.register({ tools: ["sql", "shell", "browser"] });
  const taskId = world.create({ requiredTools: ["shell", "sql"] });
  expect(world.claim(plain)).toBeUndefined();
  expect(world.claim(able)).toBe(taskId);
  expect(world.claim(able)).toBeUndefined();
});

test("the claimer completes the task, and the output is kept for a day", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: DAY });
  const taskId = world.create();
  world.claim(agentId);
  world.nowMs += SECOND;
  const completion = { type: "task.complete", taskId, agentId, output: "b2s=" } as const;
  expect(world.topicsOf(() => world.run(completion))).toEqual(["task.completed"]);
  expect(world.task(taskId)).toMatchObject({
    status: "completed",
    output: "b2s=",
    claimedBy: agentId,
    finishedAtMs: world.nowMs,
  });
  expect(world.refusal(completion)).toBe(`WRONG_STATE: task ${taskId} is completed`);
  world.pass(DAY - 1);
  expect(world.task(taskId)).toBeDefined();
  world.pass(1);
  expect(world.task(taskId)).toBeUndefined();
});

// "… is requeued (retry_count + 1) until max_retries is used up, then DEAD."
test("a task that fails is tried again as often as it may be, then it is dead", () => {
  const world = new World();
  const agentId = world.register();
  const taskId = world.create({ maxRetries: 2 });
  const failure = { type: "task.fail", taskId, agentId, reason: "no network" } as const;
  for (const retryCount of [1, 2]) {
    world.claim(agentId);
    expect(world.topicsOf(() => world.run(failure))).toEqual(["task.requeued"]);
    expect(world.task(taskId)).toMatchObject({
      status: "pending",
      retryCount,
      claimedBy: "",
      token: 0,
      failureReason: "no network",
    });
  }
  world.claim(agentId);
  expect(world.topicsOf(() => world.run(failure))).toEqual(["task.died"]);
  expect(world.task(taskId)).toMatchObject({ status: "dead", retryCount: 2 });
  expect(world.claim(agentId)).toBeUndefined();
});

// "A claimed task … whose ttl passes, is requeued (retry_count + 1)"
test("a claim that runs out puts the task back, and the late claimer is refused", () => {
  const world = new World();
  const [slow, next] = [world.register({ ttlMs: DAY }), world.register({ ttlMs: DAY })];
  const taskId = world.create({ ttlMs: 5 * SECOND, maxRetries: 1 });
  world.claim(slow);
  world.pass(5 * SECOND - 1);
  expect(world.task(taskId)?.status).toBe("claimed");
  world.pass(1);
  expect(world.task(taskId)).toMatchObject({
    status: "pending",
    retryCount: 1,
    failureReason: `claim of agent ${slow} ran out`,
  });
  const completion = { type: "task.complete", taskId, agentId: slow, output: "" } as const;
  expect(world.refusal(completion)).toBe(`WRONG_STATE: task ${taskId} is pending`);
  world.claim(next);
  expect(world.refusal(completion)).toBe(
    `WRONG_STATE: agent ${slow} has no claim on task ${taskId}`,
  );
});

test("a claim renewed in time lasts another ttl", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: DAY });
  const taskId = world.create({ ttlMs: 5 * SECOND });
  world.claim(agentId);
  world.pass(4 * SECOND);
  const renewed = world.run({ type: "task.renew", taskId, agentId, token: 1 });
  expect(renewed.expiresAtMs).toBe(START_MS + 9 * SECOND);
  expect(world.topicsOf(() => world.pass(5 * SECOND - 1))).toEqual([]);
  expect(world.topicsOf(() => world.pass(1))).toEqual(["task.died"]);
});

test("a task that comes back waits behind all others", () => {
  const world = new World();
  const agentId = world.register();
  const failing = world.create({ maxRetries: 9 });
  const other = world.create();
  world.claim(agentId);
  world.run({ type: "task.fail", taskId: failing, agentId, reason: "" });
  expect([world.claim(agentId), world.claim(agentId)]).toEqual([other, failing]);
});

// "… when the caller cancels or its deadline passes, nothing is claimed."
test("a claim that is returned was never made: same place in the queue, same retries", () => {
  const world = new World();
  const [agentId, other] = [world.register(), world.register()];
  const ids = [world.create({ maxRetries: 1 }), world.create(), world.create()];
  world.claim(agentId);
  world.run({ type: "task.fail", taskId: ids[0] ?? "", agentId, reason: "no network" });
  const before = fingerprint(world.state);
  const claims = [1, 2, 3].map(() => world.run({ type: "task.claim", agentId }));
  for (const task of claims) {
    const about = { type: "task.return", taskId: task?.id ?? "", token: task?.token ?? 0 } as const;
    expect(world.refusal({ ...about, agentId: other })).toContain("has no claim");
    expect(world.refusal({ ...about, agentId, token: 1 })).toContain("no longer current");
    expect(world.topicsOf(() => world.run({ ...about, agentId }))).toEqual(["task.returned"]);
    expect(world.refusal({ ...about, agentId })).toContain("is pending");
  }
  // All but the counter of tokens, which never falls.
  const lastToken = `"lastToken":${world.state.fencing.lastToken}`;
  expect(fingerprint(world.state)).toContain(lastToken.replaceAll('"', '\\"'));
  world.state.fencing.lastToken = 1;
  expect(fingerprint(world.state)).toBe(before);
  expect(world.claim(other)).toBe(ids[1]);
});

test("an earlier claim of the same agent is told apart by its token", () => {
  const world = new World();
  const agentId = world.register();
  const taskId = world.create({ maxRetries: 1 });
  world.claim(agentId);
  world.run({ type: "task.fail", taskId, agentId, reason: "" });
  world.claim(agentId);
  const about = { taskId, agentId, token: 1 };
  const refused = `WRONG_STATE: token 1 of task ${taskId} is no longer current`;
  expect(world.refusal({ type: "task.complete", ...about, output: "" })).toBe(refused);
  expect(world.refusal({ type: "task.fail", ...about, reason: "" })).toBe(refused);
  expect(world.refusal({ type: "task.renew", ...about })).toBe(refused);
  world.run({ type: "task.complete", ...about, token: 2, output: "" });
  expect(world.task(taskId)?.status).toBe("completed");
});

test("an unknown task or agent is not found", () => {
  const world = new World();
  const about = { taskId: "t", agentId: world.register() };
  expect(world.refusal({ type: "task.complete", ...about, output: "" })).toBe(
    "NOT_FOUND: no task t",
  );
  expect(world.refusal({ type: "task.fail", ...about, reason: "" })).toBe("NOT_FOUND: no task t");
  expect(world.refusal({ type: "task.renew", ...about })).toBe("NOT_FOUND: no task t");
  expect(world.refusal({ type: "task.claim", agentId: "x" })).toBe("NOT_FOUND: no agent x");
});

// "INVALID_ARGUMENT for empty/oversized/invalid fields (name the field)"
test("an invalid field of a new task is named", () => {
  const world = new World();
  const many = Array.from({ length: FIELD.tools + 1 }, (_, i) => `t${i}`);
  const refused: readonly (readonly [Parameters<typeof taskCreate>[0], string])[] = [
    [{ taskType: "" }, "type is empty"],
    [{ taskType: "x".repeat(FIELD.nameLength + 1) }, "type has 129 characters"],
    [{ ttlMs: 1 }, "ttlMs is 0.001 s"],
    [{ maxRetries: 1.5 }, "maxRetries is not a whole number"],
    [{ maxRetries: -1 }, "maxRetries is not a whole number"],
    [{ maxRetries: FIELD.maxRetries + 1 }, "maxRetries is 1001, at most 1000 is allowed"],
    [{ requiredTools: many }, "requiredTools has 257 entries"],
    [{ requiredTools: ["a", ""] }, "requiredTools[1] is empty"],
    [{ requiredTools: ["a\nb"] }, "requiredTools[0] holds a control character"],
    [
      { input: base64Of(FIELD.taskInputBytes + 1) },
      "input has 2097153 bytes, at most 2097152 are allowed",
    ],
  ];
  for (const [fields, reason] of refused) {
    expect(world.refusal(taskCreate(fields))).toContain(`INVALID_ARGUMENT: ${reason}`);
  }
});

test("an invalid field of a claimed task is named", () => {
  const world = new World();
  const agentId = world.register();
  const taskId = world.create();
  world.claim(agentId);
  const complete = { type: "task.complete", taskId, agentId, output: "" } as const;
  expect(world.refusal({ ...complete, taskId: "" })).toBe("INVALID_ARGUMENT: taskId is empty");
  expect(world.refusal({ ...complete, agentId: "" })).toBe("INVALID_ARGUMENT: agentId is empty");
  expect(world.refusal({ ...complete, output: base64Of(FIELD.taskOutputBytes + 1) })).toBe(
    "INVALID_ARGUMENT: output has 1048577 bytes, at most 1048576 are allowed",
  );
  const reason = "x".repeat(FIELD.reasonLength + 1);
  expect(world.refusal({ type: "task.fail", taskId, agentId, reason })).toMatch(
    /^INVALID_ARGUMENT: reason has 1025 characters/,
  );
  expect(world.refusal({ type: "task.claim", agentId: "" })).toBe(
    "INVALID_ARGUMENT: agentId is empty",
  );
});

test("input and output may be exactly as large as allowed", () => {
  const world = new World();
  const agentId = world.register();
  const taskId = world.create({ input: base64Of(FIELD.taskInputBytes) });
  world.claim(agentId);
  const output = base64Of(FIELD.taskOutputBytes);
  world.run({ type: "task.complete", taskId, agentId, output });
  expect(world.task(taskId)?.output).toBe(output);
});

test("a task that waits is cancelled, and nobody gets it any more", () => {
  const world = new World();
  const agentId = world.register();
  const [first, second] = [world.create(), world.create()];
  const cancel = { type: "task.cancel", taskId: first, reason: "no longer needed" } as const;
  expect(world.topicsOf(() => world.run(cancel))).toEqual(["task.cancelled"]);
  expect(world.task(first)).toMatchObject({
    status: "cancelled",
    failureReason: "no longer needed",
    finishedAtMs: world.nowMs,
  });
  expect(world.topicsOf(() => world.run(cancel))).toEqual([]);
  expect([world.claim(agentId), world.claim(agentId)]).toEqual([second, undefined]);
  world.pass(DAY + SECOND);
  expect(world.task(first)).toBeUndefined();
});

test("a task that is worked on is cancelled, and its agent is refused from then on", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: DAY });
  const taskId = world.create({ maxRetries: 3 });
  world.claim(agentId);
  world.run({ type: "task.cancel", taskId, reason: "" });
  for (const type of ["task.renew", "task.complete", "task.fail"] as const) {
    const command = { type, taskId, agentId, output: "", reason: "" } as const;
    expect(world.refusal(command)).toBe(`WRONG_STATE: task ${taskId} is cancelled`);
  }
  expect(world.topicsOf(() => world.pass(60 * SECOND))).toEqual([]);
});

test("a task is cancelled by the principal that made it, or an operator", () => {
  const world = new World();
  world.by = byOf({ ...LOCAL, name: "token:ci", roles: ["agent"] }, "http");
  const own = world.create();
  world.by = LIBRARY;
  const other = world.create();
  world.by = byOf({ ...LOCAL, name: "token:ci", roles: ["agent"] }, "http");
  expect(world.refusal({ type: "task.cancel", taskId: other, reason: "" })).toBe(
    `PERMISSION_DENIED: token:ci may not cancel task ${other}: that is for local and operators`,
  );
  expect(world.run({ type: "task.cancel", taskId: own, reason: "" }).status).toBe("cancelled");
  world.by = byOf({ ...LOCAL, name: "token:op", roles: ["operator"] }, "http");
  expect(world.run({ type: "task.cancel", taskId: other, reason: "" }).status).toBe("cancelled");
});

test.each(["none", "completed"])("a task that is %s cannot be cancelled", (status) => {
  const world = new World();
  const agentId = world.register();
  const taskId = status === "none" ? status : world.create();
  if (world.claim(agentId)) world.run({ type: "task.complete", taskId, agentId, output: "" });
  const reason =
    status === "none" ? "NOT_FOUND: no task none" : `WRONG_STATE: task ${taskId} is completed`;
  expect(world.refusal({ type: "task.cancel", taskId, reason: "" })).toBe(reason);
});

test("a task that nobody claims in time is dead, and all are told", () => {
  const world = new World();
  const taskId = world.create({ pendingTtlMs: 60 * SECOND });
  const patient = world.create();
  world.pass(60 * SECOND - 1);
  expect(world.task(taskId)?.status).toBe("pending");
  expect(world.topicsOf(() => world.pass(1))).toEqual(["task.expired"]);
  expect(world.task(taskId)).toMatchObject({
    status: "dead",
    failureReason: "no agent claimed it in time",
    finishedAtMs: world.nowMs,
  });
  expect(world.task(patient)?.status).toBe("pending");
});

test("a claim in time stops the wait; given back too late, the task is dead", () => {
  const world = new World();
  const agentId = world.register({ ttlMs: DAY });
  const taskId = world.create({ pendingTtlMs: 10 * SECOND, ttlMs: 60 * SECOND, maxRetries: 1 });
  world.claim(agentId);
  world.pass(30 * SECOND);
  expect(world.task(taskId)?.status).toBe("claimed");
  world.run({ type: "task.fail", taskId, agentId, reason: "tired" });
  expect(world.topicsOf(() => world.pass(0))).toEqual(["task.expired"]);
});

test("time that nobody could claim in does not count", () => {
  const world = new World();
  const taskId = world.create({ pendingTtlMs: 60 * SECOND });
  world.nowMs += DAY;
  world.lead("n2");
  world.pass(60 * SECOND - 1);
  expect(world.task(taskId)?.status).toBe("pending");
  world.pass(1);
  expect(world.task(taskId)?.status).toBe("dead");
});
