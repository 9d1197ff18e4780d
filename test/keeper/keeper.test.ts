import { describe, expect, test, vi } from "vitest";
import { codeOf } from "../../src/core/errors.ts";
import { decodeJson, encodeJson } from "../../src/wires/keeper/client/tasks.ts";
import { TestClock } from "../support/engine/fixture.ts";
import { both, clientOf, daemonOf, lineTo } from "./fixture.ts";

async function codeFrom(work: Promise<unknown>): Promise<string> {
  return codeOf(
    await work.then(
      () => undefined,
      (error: unknown) => error,
    ),
  );
}

describe("agents", () => {
  test("register, are found with all they said, and are dead when closed", async () => {
    const { keeper } = await both();
    const agent = await keeper.register({
      name: "scraper-1",
      description: "Fetches and parses web pages",
      version: "1.0.0",
      tools: ["browser"],
      capabilities: [{ name: "fetch", description: "gets a page" }],
      metadata: { team: "data" },
    });
    await keeper.register({ name: "writer", tools: ["pen"] });
    const [found, ...others] = await keeper.find({ tools: ["browser"] });
    expect(others).toEqual([]);
    expect(found).toMatchObject({ agentId: agent.id, card: agent.card, status: "alive" });
    expect(found?.registeredAtMs).toBeGreaterThan(Date.now() - 60_000);
    await agent.close();
    await agent.close();
    expect((await keeper.getAgent(agent.id)).status).toBe("dead");
    expect(agent.state).toEqual({ kind: "closed", id: agent.id });
    expect(agent.signal.aborted).toBe(true);
  });

  test("are closed with their client", async () => {
    const { daemon, keeper } = await both();
    const { id } = await keeper.register({ name: "a" });
    await keeper.close();
    expect((await clientOf(daemon.grpcAddress).getAgent(id)).status).toBe("dead");
    expect(await codeFrom(keeper.find())).toBe("CANCELLED");
  });

  test("what the daemon refuses is told with its code and the field", async () => {
    const { keeper } = await both();
    await expect(keeper.register({ name: "" })).rejects.toThrow("name");
    expect(await codeFrom(keeper.register({ name: "" }))).toBe("INVALID_ARGUMENT");
    expect(await codeFrom(keeper.getAgent("nobody"))).toBe("NOT_FOUND");
  });
});

test("policies are set, listed, checked and deleted", async () => {
  const { keeper } = await both();
  const allow = {
    id: "all",
    subject: "agent:scraper",
    action: "call",
    resource: "tool:*",
    effect: "allow",
  } as const;
  const deny = { ...allow, id: "no-write", resource: "tool:write", effect: "deny" } as const;
  expect(await keeper.policies.set(allow)).toEqual(allow);
  await keeper.policies.set(deny);
  expect(await keeper.policies.list({ subjectPrefix: "agent:" })).toEqual([allow, deny]);
  const write = { subject: "agent:scraper", action: "call", resource: "tool:write" };
  expect(await keeper.check(write)).toEqual({
    allowed: false,
    reason: 'denied by policy "no-write"',
  });
  await keeper.policies.delete("no-write");
  expect((await keeper.check(write)).allowed).toBe(true);
  expect((await keeper.check({ ...write, subject: "x" })).reason).toContain("no matching");
});

test("tasks go through their life, bytes and JSON alike", async () => {
  const { keeper } = await both();
  const agent = await keeper.register({ name: "a", tools: ["t"] });
  const made = await keeper.tasks.create({
    type: "resize",
    json: { width: 7 },
    requiredTools: ["t"],
    maxRetries: 1,
  });
  expect(made).toMatchObject({ type: "resize", status: "pending", maxRetries: 1 });
  const claim = await keeper.tasks.claim(agent.id);
  expect(decodeJson(claim.task.input)).toEqual({ width: 7 });
  expect(claim).toMatchObject({ agentId: agent.id, ttlMs: 60_000 });
  await keeper.tasks.fail(claim, "not today");
  expect(await keeper.tasks.get(made.id)).toMatchObject({
    status: "pending",
    retryCount: 1,
    failureReason: "not today",
  });
  const again = await keeper.tasks.claim(agent.id);
  expect(again.token).toBeGreaterThan(claim.token ?? Infinity);
  expect(await codeFrom(keeper.tasks.complete(claim))).toBe("WRONG_STATE");
  await keeper.tasks.complete(again, encodeJson("done"));
  const [done, ...others] = await keeper.tasks.list({ status: "completed" });
  expect(others).toEqual([]);
  expect(done && decodeJson(done.output)).toBe("done");
  expect(done?.finishedAtMs).toBeGreaterThan(0);
});

test("a claim that was given up claims nothing", async () => {
  const { keeper } = await both();
  const agent = await keeper.register({ name: "a" });
  expect(await codeFrom(keeper.tasks.claim(agent.id, { timeoutMs: 50 }))).toBe("DEADLINE_EXCEEDED");
  const { id } = await keeper.tasks.create({ type: "x" });
  expect((await keeper.tasks.get(id)).status).toBe("pending");
});

test("closing ends all that was begun, and leaves no timer behind", async () => {
  const clock = new TestClock();
  const { keeper, daemon } = await both();
  const busy = clientOf(daemon.grpcAddress, { clock });
  const agent = await busy.register({ name: "a" });
  const lease = await agent.acquireLease("t");
  const waiting = busy.acquireLease("t", { agentId: agent.id, wait: true });
  const campaign = await agent.campaign("g");
  const watch = busy.watch();
  await watch.ready();
  const worker = agent.work(() => undefined);
  const call = busy.tasks.claim(agent.id);
  expect(clock.timers).toBeGreaterThan(0);
  const failed = Promise.allSettled([waiting, call]);
  await Promise.all([busy.close(), busy.close()]);
  await worker.finished;
  expect((await failed).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect([lease?.isHeld, campaign.isLeader, agent.state.kind]).toEqual([false, false, "closed"]);
  expect((await watch[Symbol.asyncIterator]().next()).done).toBe(true);
  expect((await keeper.getAgent(agent.id)).status).toBe("dead");
  expect(clock.timers).toBe(0);
});

test("calls wait for a daemon that is not there yet, and say who did not answer", async () => {
  const daemon = await daemonOf();
  const line = await lineTo(daemon.grpcAddress);
  const keeper = clientOf(line.address, { timeoutMs: 5_000 });
  await keeper.find();
  line.cut();
  expect(await keeper.find()).toEqual([]);
  await daemon.close();
  await expect(keeper.find({ timeoutMs: 200 })).rejects.toThrow(/127\.0\.0\.1:\d+/);
});

test("an embedded daemon has both doors, and two can be open at once", async () => {
  const [one, two] = await Promise.all([daemonOf(), daemonOf()]);
  expect(one.grpcAddress).not.toBe(two.grpcAddress);
  expect(await (await fetch(`${one.url}/healthz`)).text()).toBe("ok");
  await using keeper = one.connect();
  await keeper.register({ name: "only-here" });
  await vi.waitFor(async () => expect(await keeper.find()).toHaveLength(1));
  expect(await clientOf(two.grpcAddress).find()).toEqual([]);
});
