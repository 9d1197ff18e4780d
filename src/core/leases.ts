/**
 * A lease lets one agent at a time work on a task, for a bounded time.
 *
 *            acquire                 renew
 *   free ────────────────▶ held ◀──────────┐
 *    ▲                      │ │            │
 *    └── release, expire, ──┘ └────────────┘
 *        death of the holder
 *
 * Safety rests on the token alone: it grows with every grant of every task and never falls, so a
 * resource that remembers the highest token it has seen can refuse a holder that overslept. The
 * deadline serves progress only; a wrong clock can delay a hand-over, not cause two writers.
 */
import { livingAgent, type Agent } from "./agents.ts";
import { ownerOf } from "./by.ts";
import { leaseFor } from "./fencing.ts";
import { Heap, type Slot } from "./heap.ts";
import { decided, refuse, type Decision, type Moment } from "./decide.ts";
import type { Event } from "./events.ts";
import { invalid, key, ttl } from "./fields.ts";
import { IndexBy } from "./index-by.ts";
import { COUNT, TTL } from "./limits.ts";
import { beyondShare, Holdings, SHARED, wishOf } from "./shares.ts";
import type { State } from "./state.ts";

export interface Lease {
  readonly taskId: string;
  readonly holder: string;
  /** The owner of its holder; absent for `local`. */
  readonly owner?: string | undefined;
  /** A safe integer: a million grants a second would take 285 years to reach its end. */
  readonly token: number;
  readonly ttlMs: number;
  readonly acquiredAtMs: number;
  readonly expiresAtMs: number;
}

export interface LeaseEntry {
  lease: Lease;
  readonly timer: Slot<string>;
}

export class Leases {
  readonly byTask = new Map<string, LeaseEntry>();
  readonly byHolder = new IndexBy();
  readonly deadlines = new Heap<string>();
  readonly holdings = new Holdings();
}

export type LeaseCommand =
  | {
      readonly type: "lease.acquire";
      readonly taskId: string;
      readonly agentId: string;
      readonly ttlMs: number;
    }
  | {
      readonly type: "lease.renew";
      readonly taskId: string;
      readonly agentId: string;
      readonly token: number;
      readonly ttlMs: number;
    }
  | {
      readonly type: "lease.release";
      readonly taskId: string;
      readonly agentId: string;
      readonly token: number;
    };

export interface LeaseReplies {
  /** The caller's lease, or that of the current holder. */
  "lease.acquire": { readonly acquired: boolean; readonly lease: Lease };
  "lease.renew": Lease;
  "lease.release": null;
}

export type LeaseEvent =
  | { readonly type: "lease.acquired" | "lease.renewed" | "lease.expired"; readonly lease: Lease }
  | {
      readonly type: "lease.released";
      readonly lease: Lease;
      readonly cause: "released" | "holder died";
    };

type LeaseReply = LeaseReplies[keyof LeaseReplies];

export function decideLease(
  state: State,
  command: LeaseCommand,
  moment: Moment,
): Decision<Event, LeaseReply> {
  const ttlMs = command.type === "lease.release" ? 0 : command.ttlMs;
  const refusal = invalid(key("taskId", command.taskId), ttl("ttlMs", ttlMs));
  if (refusal) return refusal;
  const agent = livingAgent(state, command.agentId);
  if ("ok" in agent) return agent;
  if (command.type === "lease.acquire")
    return acquire(state, command, { agent: agent.agent, moment });

  const held = state.leases.byTask.get(command.taskId)?.lease;
  if (!held) return refuse("NOT_FOUND", `no lease on ${command.taskId}`);
  if (held.holder !== command.agentId || held.token !== command.token) {
    return refuse(
      "NOT_HOLDER",
      `agent ${command.agentId} does not hold ${command.taskId} with token ${command.token}`,
    );
  }
  if (command.type === "lease.release") {
    return decided([{ type: "lease.released", lease: held, cause: "released" }], null);
  }
  const lease = extended(held, command.ttlMs, moment.nowMs);
  return decided([{ type: "lease.renewed", lease }], lease);
}

function acquire(
  state: State,
  command: LeaseCommand & { readonly type: "lease.acquire" },
  { agent, moment: { nowMs, by } }: { readonly agent: Agent; readonly moment: Moment },
): Decision<Event, LeaseReply> {
  const { leases, fencing } = state;
  const held = leases.byTask.get(command.taskId)?.lease;
  if (held && held.holder !== command.agentId) {
    return decided([], { acquired: false, lease: leaseFor(held, by) });
  }
  if (held) {
    const lease = extended(held, command.ttlMs, nowMs);
    return decided([{ type: "lease.renewed", lease }], { acquired: true, lease });
  }
  const full = beyondShare(SHARED.leases, wishOf(leases.holdings, ownerOf(agent)));
  if (full) return full;
  if (leases.byHolder.of(command.agentId).size >= COUNT.leasesPerAgent) {
    return refuse(
      "LIMIT_EXCEEDED",
      `agent ${command.agentId} already holds ${COUNT.leasesPerAgent} leases`,
    );
  }
  const ttlMs = command.ttlMs === 0 ? TTL.leaseDefaultMs : command.ttlMs;
  const lease: Lease = {
    taskId: command.taskId,
    holder: command.agentId,
    owner: agent.owner,
    token: fencing.lastToken + 1,
    ttlMs,
    acquiredAtMs: nowMs,
    expiresAtMs: nowMs + ttlMs,
  };
  return decided([{ type: "lease.acquired", lease }], { acquired: true, lease });
}

/** Zero asks for the ttl it had. */
function extended(lease: Lease, ttlMs: number, nowMs: number): Lease {
  const newTtlMs = ttlMs === 0 ? lease.ttlMs : ttlMs;
  return { ...lease, ttlMs: newTtlMs, expiresAtMs: nowMs + newTtlMs };
}

export function evolveLease(state: State, event: LeaseEvent): void {
  const { leases, fencing } = state;
  const { lease } = event;
  switch (event.type) {
    case "lease.acquired":
      restoreLease(state, lease);
      fencing.lastToken = Math.max(fencing.lastToken, lease.token);
      return;
    case "lease.renewed": {
      const entry = leases.byTask.get(lease.taskId);
      if (!entry) throw new Error(`the log renews a lease on ${lease.taskId} that nobody holds`);
      entry.lease = lease;
      // A later deadline is found when the timer rings; an earlier one must be told to it.
      if (lease.expiresAtMs < entry.timer.at) {
        leases.deadlines.move(entry.timer, lease.expiresAtMs);
      }
      return;
    }
    case "lease.released":
    case "lease.expired": {
      const entry = leases.byTask.get(lease.taskId);
      if (entry) {
        leases.deadlines.remove(entry.timer);
        leases.holdings.remove(ownerOf(entry.lease));
      }
      leases.byTask.delete(lease.taskId);
      leases.byHolder.delete(lease.holder, lease.taskId);
      return;
    }
  }
}

export function restoreLease({ leases }: State, lease: Lease): void {
  const timer = leases.deadlines.add(lease.expiresAtMs, lease.taskId);
  leases.byTask.set(lease.taskId, { lease, timer });
  leases.byHolder.add(lease.holder, lease.taskId);
  leases.holdings.add(ownerOf(lease));
}

export function dueLease(leases: Leases): number | undefined {
  return leases.deadlines.nextAt();
}

export function expireLease(state: State, nowMs: number): readonly Event[] {
  const timer = state.leases.deadlines.takeDue(nowMs);
  const entry = timer && state.leases.byTask.get(timer.value);
  if (!entry) return [];
  const { lease } = entry;
  const expiresAtMs = Math.max(lease.expiresAtMs, state.graceFromMs + lease.ttlMs);
  if (expiresAtMs > nowMs) {
    state.leases.deadlines.move(entry.timer, expiresAtMs);
    return [];
  }
  return [{ type: "lease.expired", lease }];
}

export function* leasesOf(state: State, agentId: string): Generator<Lease> {
  for (const taskId of state.leases.byHolder.of(agentId)) {
    const entry = state.leases.byTask.get(taskId);
    if (entry) yield entry.lease;
  }
}
