/**
 * Cuts the history of a whole run into those of single leases, groups, tasks and policies, and
 * asks of each whether it can be explained. Each gets what clients asked of it, and the facts
 * nobody asked for, taken from the durable log at the moment they became durable.
 *
 * A question without an answer may have been done at any later time, or never; the log narrows
 * that: where nothing in it could have come of the question, it was never done.
 */
import type { Event, RecordedEvent } from "../../src/core/events.ts";
import { rules, type Command } from "../../src/core/rules.ts";
import { emptyState } from "../../src/core/state.ts";
import type { SubmitReply } from "../../src/core/job-submit.ts";
import type { Task } from "../../src/core/tasks.ts";
import { jobsIn } from "../support/core/jobs.ts";
import { groupModel } from "./group-model.ts";
import { describe, type Op } from "./history.ts";
import { isEffectOfJob, jobModel } from "./job-model.ts";
import { leaseModel } from "./lease-model.ts";
import { check, type Model, type Operation, type Verdict } from "./linearizable.ts";
import { commandOf, told, type Input } from "./model.ts";
import { FAIL_REASON } from "./moves.ts";
import { policyModel } from "./policy-model.ts";
import type { Durable } from "./sim-disk.ts";
import { taskModel } from "./task-model.ts";

/** An event of the log as the models get it. */
interface Fact {
  readonly event: Event;
  readonly termFloor: number;
  /** A moment of its own within the step: facts stand in the order of the log. */
  readonly at: number;
}

export interface Explanation {
  /** "lease key-1", "task 12ab…". */
  readonly about: string;
  readonly verdict: Verdict<Input>["kind"];
  /** What was explained last, and what could not be. */
  readonly detail: string;
}

type Noun = "lease" | "group" | "task" | "job" | "policy";

export function explain(
  ops: readonly Op[],
  archive: readonly Durable[],
  recorded: readonly RecordedEvent[],
): readonly Explanation[] {
  const facts = factsOf(archive, recorded);
  const byNoun = {
    lease: new Filed(),
    group: new Filed(),
    task: new Filed(),
    job: new Filed(),
    policy: new Filed(),
  };
  for (const op of ops) {
    // The witness proves these by the rules; whose a thing is the models do not know.
    if (op.outcome.kind === "refused" && op.outcome.code === "PERMISSION_DENIED") continue;
    const about = subjectOf(op);
    if (about && mayHaveHappened(op, facts)) byNoun[about.noun].add(about.key, op);
  }
  const explained: Explanation[] = [];
  for (const [key, asked] of byNoun.lease.byKey) {
    const agents = agentsOf(asked);
    const own = facts.filter(({ event }) => isFactOfLease(event, key, agents));
    explained.push(verify(`lease ${key}`, leaseModel, operations(asked, own)));
  }
  for (const [key, asked] of byNoun.group.byKey) {
    const agents = agentsOf(asked);
    const own = facts.filter(({ event }) => isFactOfGroup(event, agents));
    explained.push(verify(`group ${key}`, groupModel(key), operations(asked, own)));
  }
  for (const [key, asked] of byNoun.task.byKey) {
    const own = facts.filter(({ event }) => isFactOfTask(event, key, asked));
    explained.push(verify(`task ${key}`, taskModel, operations(asked, own)));
  }
  const byJob = jobFacts(facts);
  for (const [key, asked] of byNoun.job.byKey) {
    const isFact = ({ event }: Fact) => !asked.some((op) => isEffectOfJob(event, op));
    const own = (byJob.get(key) ?? []).filter(isFact);
    explained.push(verify(`job ${key}`, jobModel, operations(asked, own)));
  }
  for (const [key, asked] of byNoun.policy.byKey) {
    explained.push(verify(`policy ${key}`, policyModel, operations(asked, [])));
  }
  return explained;
}

class Filed {
  readonly byKey = new Map<string, Op[]>();

  add(key: string, op: Op): void {
    const ops = this.byKey.get(key);
    if (ops) ops.push(op);
    else this.byKey.set(key, [op]);
  }
}

function verify<S>(
  about: string,
  model: Model<S, Input>,
  asked: readonly Operation<Input>[],
): Explanation {
  const verdict = check(model, asked);
  if (verdict.kind !== "not linearizable") return { about, verdict: verdict.kind, detail: "" };
  const lines = [...verdict.explained.slice(-8).map(show), `but not: ${show(verdict.stuck)}`];
  return { about, verdict: verdict.kind, detail: lines.join("\n  ") };
}

function show(input: Input): string {
  if (input.kind === "fact") return `fact ${JSON.stringify(input.event)}`;
  const { id, who, ask, outcome } = input.op;
  return `#${id} ${who} ${describe(ask)} → ${JSON.stringify(outcome)}`;
}

function operations(ops: readonly Op[], facts: readonly Fact[]): Operation<Input>[] {
  return [
    ...ops.map((op): Operation<Input> => {
      return { input: { kind: "asked", op }, calledAt: op.calledAt, returnedAt: op.returnedAt };
    }),
    ...facts.map(({ at, event, termFloor }): Operation<Input> => {
      return { input: { kind: "fact", event, termFloor }, calledAt: at, returnedAt: at };
    }),
  ];
}

function factsOf(archive: readonly Durable[], recorded: readonly RecordedEvent[]): Fact[] {
  const state = emptyState();
  return recorded.map(({ event, atMs, sequence }, i) => {
    rules.evolve(state, event, atMs);
    // Between the step of its append and the next one.
    const at = (archive[i]?.step ?? 0) + sequence / (archive.length + 1);
    return { event, at, termFloor: state.elections.termFloor };
  });
}

/** What an op is about; nothing when it is not checked here. */
function subjectOf(op: Op): { readonly noun: Noun; readonly key: string } | undefined {
  const { ask } = op;
  if (ask.kind === "read") {
    return ask.noun === "fingerprint" ? undefined : { noun: ask.noun, key: ask.key };
  }
  const { command } = ask;
  switch (command.type) {
    case "lease.acquire":
    case "lease.renew":
    case "lease.release":
      return { noun: "lease", key: command.taskId };
    case "election.campaign":
    case "election.resign":
      return { noun: "group", key: command.group };
    case "policy.set":
      return { noun: "policy", key: command.policy.id };
    case "policy.delete":
      return { noun: "policy", key: command.id };
    case "task.cancel":
    case "task.renew":
    case "task.complete":
    case "task.fail":
    case "task.return":
      return { noun: "task", key: command.taskId };
    case "task.create":
    case "task.claim": {
      const answer = told<Task | null>(op);
      const task = answer.kind === "ok" ? answer.reply : null;
      return task ? { noun: "task", key: task.id } : undefined;
    }
    case "job.submit": {
      const answer = told<SubmitReply>(op);
      return { noun: "job", key: answer.kind === "ok" ? answer.reply.job.id : command.jobId };
    }
    case "job.cancel":
    case "job.end":
      return { noun: "job", key: command.jobId };
    case "outpost.join":
    case "outpost.beat":
    case "outpost.take":
    case "outpost.leave":
    case "job.revive":
    case "job.progress":
    case "job.import":
    case "session.open":
    case "session.resume":
    case "session.prove":
    case "session.subscribe":
    case "session.unsubscribe":
    case "session.import":
    case "credential.request":
    case "credential.issue":
    case "credential.revoke":
    case "token.create":
    case "token.revoke":
    case "agent.register":
    case "agent.heartbeat":
    case "agent.deregister":
    case "fleet.report":
    case "fleet.forget":
    case "fleet.dismiss":
    case "question.dismiss":
    case "directory.heartbeat":
    case "directory.confirm":
    case "directory.doubt":
    case "directory.remove":
    case "node.join":
    case "node.leave":
    case "node.finalize":
      return undefined;
  }
}

/** Whether it has an answer, or something in the log could have come of it. */
function mayHaveHappened(op: Op, facts: readonly Fact[]): boolean {
  if (op.outcome.kind !== "unknown") return true;
  const { ask } = op;
  return (
    ask.kind === "command" &&
    facts.some(({ at, event }) => at > op.calledAt && isEffectOf(event, op))
  );
}

function isEffectOf(event: Event, op: Op): boolean {
  switch (event.type) {
    case "lease.acquired":
      return isSame(commandOf(op, "lease.acquire"), event.lease.taskId, event.lease.holder);
    case "lease.released":
      return commandOf(op, "lease.release")?.token === event.lease.token;
    case "election.joined":
      return isSame(commandOf(op, "election.campaign"), event.group, event.agentId);
    case "election.left":
      return isSame(commandOf(op, "election.resign"), event.group, event.agentId);
    case "policy.set":
      return commandOf(op, "policy.set")?.policy.resource === event.policy.resource;
    case "policy.deleted":
      return commandOf(op, "policy.delete")?.id === event.id;
    case "task.completed":
      return commandOf(op, "task.complete")?.taskId === event.taskId;
    case "task.requeued":
    case "task.died":
      return commandOf(op, "task.fail")?.taskId === event.taskId;
    case "task.returned":
      return commandOf(op, "task.return")?.taskId === event.taskId;
    case "task.cancelled":
      return commandOf(op, "task.cancel")?.taskId === event.taskId;
    default:
      return isEffectOfJob(event, op);
  }
}

/** A question of that agent about that key or group. */
function isSame(command: Command | undefined, key: string, agentId: string): boolean {
  if (!command || !("agentId" in command) || command.agentId !== agentId) return false;
  return (
    ("taskId" in command && command.taskId === key) || ("group" in command && command.group === key)
  );
}

function agentsOf(ops: readonly Op[]): ReadonlySet<string> {
  const agents = new Set<string>();
  for (const { ask } of ops) {
    if (ask.kind === "command" && "agentId" in ask.command) agents.add(ask.command.agentId);
  }
  return agents;
}

function isFactOfLease(event: Event, key: string, agents: ReadonlySet<string>): boolean {
  if (event.type === "lease.expired") return event.lease.taskId === key;
  return isFactOfAgent(event, agents, ["agent.registered", "agent.died"]);
}

function isFactOfGroup(event: Event, agents: ReadonlySet<string>): boolean {
  if (event.type === "election.forgotten") return true;
  const types = ["agent.registered", "agent.unreachable", "agent.recovered", "agent.died"];
  return isFactOfAgent(event, agents, types);
}

function isFactOfAgent(event: Event, agents: ReadonlySet<string>, types: string[]): boolean {
  return types.includes(event.type) && "agent" in event && agents.has(event.agent.agentId);
}

/** All that became of each job. */
function jobFacts(facts: readonly Fact[]): ReadonlyMap<string, readonly Fact[]> {
  const byJob = new Map<string, Fact[]>();
  for (const fact of facts) {
    for (const jobId of jobsIn(fact.event)) {
      byJob.set(jobId, [...(byJob.get(jobId) ?? []), fact]);
    }
  }
  return byJob;
}

/** Claims and creations that nobody was told of, endings that nobody asked for. */
function isFactOfTask(event: Event, taskId: string, asked: readonly Op[]): boolean {
  switch (event.type) {
    case "task.created":
      return event.task.id === taskId && !asked.some((op) => commandOf(op, "task.create"));
    case "task.claimed":
      return (
        event.taskId === taskId &&
        !asked.some((op) => {
          const answer = commandOf(op, "task.claim") ? told<Task>(op) : undefined;
          return answer?.kind === "ok" && answer.reply.token === event.claim.token;
        })
      );
    case "task.requeued":
    case "task.died":
      return event.taskId === taskId && event.reason !== FAIL_REASON;
    case "task.expired":
    case "task.forgotten":
      return event.taskId === taskId;
    default:
      return false;
  }
}
