import { asyncProperty, assert, nat } from "fast-check";
import { expect, test, vi } from "vitest";
import { audit } from "../../test/support/core/audit.ts";
import type { Event } from "./events.ts";
import { jobDeadline, graceOf } from "./job-deadlines.ts";
import type * as JobBounds from "./jobs/limits.ts";
import type * as Limits from "./limits.ts";
import { RETENTION } from "./limits.ts";
import { play, type Step } from "../../test/support/core/play.ts";
import { aLife, always, SEED } from "../../test/support/core/lives.ts";
import { partOf } from "./parts.ts";
import { rules } from "./rules.ts";
import { setAttached } from "./sessions.ts";
import { capture, fingerprint, restore } from "./snapshot.ts";
import { emptyState, type State } from "./state.ts";
import { replayed, type World } from "../../test/support/core/fixture.ts";
import { isUnfinished } from "../../test/support/core/jobs.ts";

/** So little room that every life runs into the limits. */
vi.mock("./limits.ts", async (original) => {
  const { COUNT, RETENTION: kept, ENGINE, ...others } = await original<typeof Limits>();
  return {
    ...others,
    COUNT: {
      ...COUNT,
      groups: 2,
      leasesPerAgent: 2,
      claimsPerAgent: 2,
      taskBytes: 40,
      entriesPerSource: 2,
    },
    RETENTION: { ...kept, deadAgents: 3, finishedTasks: 3, finishedTaskBytes: 20 },
    ENGINE: { ...ENGINE, snapshotChunkRecords: 2, snapshotChunkBytes: 500 },
  };
});

vi.mock("./jobs/limits.ts", async (original) => {
  const { smallJobBounds } = await import("../../test/support/core/lives.ts");
  return smallJobBounds(await original<typeof JobBounds>());
});

// "At most one holder per lease at any moment; tokens strictly increase over all grants."
test("a lease never has two holders, and every grant has a higher token than all before", () => {
  always((steps) => {
    const { history } = play(steps);
    const holders = new Map<string, { readonly holder: string; readonly token: number }>();
    let lastToken = 0;
    for (const event of history) {
      if (event.type === "task.claimed") {
        expect(event.claim.token).toBeGreaterThan(lastToken);
        lastToken = event.claim.token;
      }
      if (!("lease" in event)) continue;
      const { taskId, holder, token } = event.lease;
      if (event.type === "lease.acquired") {
        expect(holders.has(taskId)).toBe(false);
        expect(token).toBeGreaterThan(lastToken);
        lastToken = token;
        holders.set(taskId, { holder, token });
      } else {
        expect(holders.get(taskId)).toEqual({ holder, token });
        if (event.type !== "lease.renewed") holders.delete(taskId);
      }
    }
  });
});

// "A read of one part waits for the events of its noun alone."
test.each(["agents", "policies"] as const)("no event of another noun changes %s", (part) => {
  let changes = 0;
  always((steps) => {
    const state = emptyState();
    const shown = () =>
      [...capture(state)].filter((piece) => piece.startsWith(`{"part":"${part}"`));
    let before = shown();
    for (const { event, atMs } of play(steps).recorded()) {
      rules.evolve(state, event, atMs);
      const after = shown();
      if (partOf(event.type) !== part) expect([event.type, after]).toEqual([event.type, before]);
      else changes += 1;
      before = after;
    }
  }, 30);
  expect(changes).toBeGreaterThan(0);
});

// "A write with an old token is refused."
test("a token that is no longer current neither renews nor releases nor completes", () => {
  always((steps) => {
    const world = play(steps);
    for (const event of world.history) {
      if (event.type === "lease.acquired") {
        const { taskId, holder: agentId, token } = event.lease;
        if (world.state.leases.byTask.get(taskId)?.lease.token === token) continue;
        const about = { taskId, agentId, token };
        expect(world.decide({ type: "lease.renew", ...about, ttlMs: 0 }).ok).toBe(false);
        expect(world.decide({ type: "lease.release", ...about }).ok).toBe(false);
      }
      if (event.type === "task.claimed") {
        const { agentId, token } = event.claim;
        const task = world.task(event.taskId);
        if (task?.status === "claimed" && task.token === token) continue;
        const about = { taskId: event.taskId, agentId, token };
        expect(world.decide({ type: "task.complete", ...about, output: "" }).ok).toBe(false);
        expect(world.decide({ type: "task.fail", ...about, reason: "" }).ok).toBe(false);
        expect(world.decide({ type: "task.renew", ...about }).ok).toBe(false);
        expect(world.decide({ type: "task.return", ...about }).ok).toBe(false);
      }
    }
  }, 60);
});

// "At most one leader per group per term; terms strictly increase."
test("the term of a group never falls, not even when it was forgotten and comes back", () => {
  let comebacks = 0;
  always((steps) => {
    const lastTerm = new Map<string, number>();
    const forgotten = new Set<string>();
    for (const event of play(steps).history) {
      if (event.type === "election.forgotten") forgotten.add(event.group);
      if (event.type !== "leader.changed") continue;
      const { group, term } = event.election;
      expect(term).toBeGreaterThan(lastTerm.get(group) ?? 0);
      lastTerm.set(group, term);
      if (forgotten.delete(group)) comebacks += 1;
    }
  });
  expect(comebacks).toBeGreaterThan(0);
});

// "A task is completed at most once, only by its holder; none is lost; retries are bounded."
test("a task is completed at most once, by its holder, is never lost nor tried without end", () => {
  always((steps) => {
    const world = play(steps);
    const tasks = new Map<string, { claimer: string; claims: number; isFinished: boolean }>();
    for (const event of world.history) {
      if (event.type === "task.created") {
        tasks.set(event.task.id, { claimer: "", claims: 0, isFinished: false });
      }
      if (!("taskId" in event)) continue;
      const task = tasks.get(event.taskId);
      if (!task) throw new Error(`${event.type} of a task that was never created`);
      if (event.type === "task.forgotten") {
        expect(task.isFinished).toBe(true);
        tasks.delete(event.taskId);
        continue;
      }
      expect(task.isFinished).toBe(false);
      if (event.type === "task.claimed") {
        expect(task.claimer).toBe("");
        task.claimer = event.claim.agentId;
        task.claims += 1;
      } else if (event.type === "task.expired") {
        expect(task.claimer).toBe("");
        task.isFinished = true;
      } else if (event.type !== "task.renewed") {
        expect(event.agentId).toBe(task.claimer);
        task.claimer = "";
        task.isFinished = !["task.requeued", "task.returned"].includes(event.type);
        if (event.type === "task.returned") task.claims -= 1;
      }
    }
    expect(new Set(world.state.tasks.byId.keys())).toEqual(new Set(tasks.keys()));
    for (const [taskId, { claims }] of tasks) {
      expect(claims).toBeLessThanOrEqual((world.task(taskId)?.maxRetries ?? 0) + 1);
    }
  });
});

// "Nobody ever sees a dead agent hold something." (death.ts)
test("after every step the dead hold nothing, leaders stand, and all indexes are right", () => {
  always((steps) => {
    play(steps, ({ world }) => expect(audit(world.state)).toEqual([]));
  });
});

test("every heap holds exactly what it guards", () => {
  always((steps) => {
    const { state } = play(steps);
    const { agents, leases, elections, tasks, jobs } = state;
    const expected = {
      jobs: idsWhere(
        jobs.byId,
        (entry) => isUnfinished(entry) && jobDeadline(entry.job) < Infinity,
      ),
      ended: idsWhere(jobs.byId, (entry) => !isUnfinished(entry)),
      deadlines: idsWhere(agents.byId, ({ agent }) => agent.status !== "dead"),
      graves: idsWhere(agents.byId, ({ agent }) => agent.status === "dead"),
      leases: idsWhere(leases.byTask, () => true),
      empty: idsWhere(elections.byGroup, ({ candidates }) => candidates.size === 0),
      claims: idsWhere(tasks.byId, ({ task }) => task.status === "claimed"),
      finished: idsWhere(tasks.byId, ({ task }) => /completed|dead|cancelled/.test(task.status)),
    };
    expect({
      jobs: drained(jobs.deadlines),
      ended: [...drained(jobs.ended), ...drained(jobs.keyed)].toSorted(),
      deadlines: drained(agents.deadlines),
      graves: drained(agents.graves),
      leases: drained(leases.deadlines),
      empty: drained(elections.empty),
      claims: drained(tasks.claims),
      finished: drained(tasks.finished),
    }).toEqual(expected);
  }, 60);
});

// "decide … changes nothing." (design)
test("deciding changes nothing, whether it is granted or refused", () => {
  always((steps) => {
    const world = play(steps.slice(0, -20));
    for (const { command } of commandsOf(steps)) {
      const before = fingerprint(world.state);
      const first = world.decide(command);
      expect(fingerprint(world.state)).toBe(before);
      expect(audit(world.state)).toEqual([]);
      if (!first.ok) expect(first.reason).not.toBe("");
    }
  }, 40);
});

// "Replaying the log gives the very state that wrote it."
test("replaying the log gives the state that wrote it, from any snapshot on", async () => {
  await assert(
    asyncProperty(aLife, nat(), async (steps, cut) => {
      const at = cut % (steps.length + 1);
      const pieces = [...capture(play(steps.slice(0, at)).state)];
      const cutAt = play(steps.slice(0, at)).texts.length;
      const world = play(steps);
      const lived = fingerprint(world.state);
      expect(fingerprint(replayed(world.recorded()))).toBe(lived);
      const restored = await restore(pieces);
      expect(audit(restored)).toEqual([]);
      replayed(world.recorded().slice(cutAt), restored);
      expect(fingerprint(restored)).toBe(lived);
      expect(audit(restored)).toEqual([]);
    }),
    { numRuns: 100, seed: SEED },
  );
});

test("who starts from a snapshot and who lived through it expire the same things", async () => {
  await assert(
    asyncProperty(aLife, nat(5), async (steps, days) => {
      const lived = play(steps);
      // A restart detaches all sessions.
      for (const { session } of lived.state.sessions.byId.values()) {
        setAttached(lived.state, session.id, { isAttached: false, nowMs: lived.nowMs });
      }
      lived.lead();
      const restored = await restore(capture(lived.state));
      expect(futureOf(restored, lived.nowMs, days)).toEqual(
        futureOf(lived.state, lived.nowMs, days),
      );
    }),
    { numRuns: 60, seed: SEED },
  );
});

// "After a start or a fail-over every live deadline is extended by one full ttl."
test("after a fail-over or a suspension nothing runs out within one full ttl", () => {
  always((steps) => {
    const world = play(steps);
    const ttls = liveTtls(world.state);
    const fromMs = world.nowMs;
    if (steps.length % 2 === 0) world.lead();
    else world.record([{ type: "node.resumed", node: "n1", unseenMs: 1 }]);
    const seen = world.history.length;
    while (rules.due(world.state) !== undefined && world.nowMs < fromMs + 60_000) {
      world.pass(500);
    }
    for (const { event, atMs } of world.recorded().slice(seen)) {
      const ttlMs = ttls.get(victimOf(event));
      if (ttlMs !== undefined) expect(atMs).toBeGreaterThanOrEqual(fromMs + ttlMs);
    }
  }, 80);
});

test("once all that is due was looked at, nothing is overdue", () => {
  always((steps) => {
    play(steps, ({ world, command }) => {
      if (command) return;
      world.pass(0);
      expect(overdue(world)).toEqual([]);
    });
  }, 80);
});

function commandsOf(steps: readonly Step[]) {
  const commands: { readonly command: NonNullable<Parameters<World["decide"]>[0]> }[] = [];
  play(steps, ({ command }) => {
    if (command) commands.push({ command });
  });
  return commands;
}

function idsWhere<V>(map: ReadonlyMap<string, V>, isMeant: (value: V) => boolean): string[] {
  return [...map].flatMap(([id, value]) => (isMeant(value) ? [id] : [])).toSorted();
}

function drained(heap: State["agents"]["deadlines"]): string[] {
  const values: string[] = [];
  for (let slot = heap.takeDue(Infinity); slot; slot = heap.takeDue(Infinity)) {
    values.push(slot.value);
  }
  return values.toSorted();
}

/** All expiries if no command ever comes again, and when; of one moment, in any order. */
function futureOf(state: State, fromMs: number, days: number): string[] {
  const future: string[] = [];
  const untilMs = fromMs + days * RETENTION.deadAgentMs;
  for (let due = rules.due(state); due !== undefined && due <= untilMs; due = rules.due(state)) {
    const nowMs = Math.max(fromMs, due);
    for (const event of rules.expire(state, nowMs)) {
      rules.evolve(state, event, nowMs);
      if (victimOf(event) !== "") future.push(`${nowMs} ${event.type} ${victimOf(event)}`);
    }
  }
  return future.toSorted();
}

/** The subject of an expiry. */
function victimOf(event: Event): string {
  switch (event.type) {
    case "agent.unreachable":
    case "agent.died":
      return `agent ${event.agent.agentId}`;
    case "lease.expired":
      return `lease ${event.lease.taskId}`;
    case "task.requeued":
    case "task.died":
      return event.reason.includes("ran out") ? `task ${event.taskId}` : "";
    case "session.gone":
      return `session ${event.sessionId}`;
    case "job.ended":
      return `job ${event.job.id} ${event.job.code}`;
    default:
      return "";
  }
}

function liveTtls({ agents, leases, tasks, sessions }: State): Map<string, number> {
  const windowMs = sessions.limits.resumeWindowSec * 1000;
  return new Map<string, number>([
    ...Array.from(sessions.byId.keys(), (id) => pair("session", id, windowMs)),
    ...Array.from(agents.byId.values(), ({ agent }) => pair("agent", agent.agentId, agent.ttlMs)),
    ...Array.from(leases.byTask.values(), ({ lease }) => pair("lease", lease.taskId, lease.ttlMs)),
    ...Array.from(tasks.byId.values(), ({ task }) => pair("task", task.id, task.ttlMs)),
  ]);
}

function pair(noun: string, id: string, ttlMs: number): [string, number] {
  return [`${noun} ${id}`, ttlMs];
}

function overdue({ state, nowMs }: World): string[] {
  const { agents, leases, elections, tasks, jobs, sessions, graceFromMs } = state;
  const windowMs = sessions.limits.resumeWindowSec * 1000;
  const isLate = (fromMs: number, ttlMs: number) => Math.max(fromMs, graceFromMs) + ttlMs <= nowMs;
  return [
    ...idsWhere(agents.byId, ({ agent, seenAtMs, missedAtMs }) => {
      if (agent.status === "dead") return agent.diedAtMs + RETENTION.deadAgentMs <= nowMs;
      if (agent.status === "alive") return isLate(seenAtMs, agent.ttlMs);
      return missedAtMs + agent.ttlMs <= nowMs && isLate(seenAtMs, 2 * agent.ttlMs);
    }),
    ...idsWhere(jobs.byId, (entry) => {
      if (isUnfinished(entry)) return jobDeadline(entry.job, graceOf(state)) <= nowMs;
      return entry.timer.at <= nowMs || jobs.ended.size > jobs.limits.finished;
    }),
    ...idsWhere(sessions.byId, ({ isAttached, detachedAtMs }) => {
      return !isAttached && isLate(detachedAtMs, windowMs);
    }),
    ...idsWhere(leases.byTask, ({ lease }) => isLate(lease.expiresAtMs - lease.ttlMs, lease.ttlMs)),
    ...idsWhere(elections.byGroup, ({ election, candidates }) => {
      return candidates.size === 0 && election.electedAtMs + RETENTION.emptyGroupMs <= nowMs;
    }),
    ...idsWhere(tasks.byId, ({ task }) => {
      if (task.status === "claimed") return isLate(task.expiresAtMs - task.ttlMs, task.ttlMs);
      return task.finishedAtMs > 0 && task.finishedAtMs + RETENTION.finishedTaskMs <= nowMs;
    }),
  ];
}
