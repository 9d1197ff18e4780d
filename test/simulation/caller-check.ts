/**
 * Whose the things in the log are, and who acted on them: from the callers that events tell, kept
 * apart from the rules. Nothing changes but by its owner, an operator, or the engine itself.
 */
import { ownerOf } from "../../src/core/by.ts";
import { byOfEvent, type Event, type RecordedEvent, type Topic } from "../../src/core/events.ts";
import { isOperator } from "./callers.ts";
import type { Op } from "./history.ts";

type Fail = (invariant: string, detail: string) => void;

/** Only a caller brings these about. */
const CALLED: readonly Topic[] = [
  "agent.registered",
  "agent.bound",
  "agent.recovered",
  "lease.acquired",
  "lease.renewed",
  "election.joined",
  "policy.set",
  "policy.deleted",
  "task.created",
  "task.cancelled",
  "task.claimed",
  "task.renewed",
  "task.completed",
  "task.returned",
  "job.submitted",
  "session.opened",
  "session.resumed",
  "token.created",
  "directory.registered",
];

/** Only an operator does. */
const RULES: readonly Topic[] = [
  "policy.set",
  "policy.deleted",
  "token.created",
  "token.revoked",
  "question.dismissed",
  "fleet.dismissed",
  "directory.removed",
];

export class CallerCheck {
  /** By agent, task, alias, job and session. */
  readonly #owners = new Map<string, string>();
  readonly #claimers = new Map<string, string>();
  /** Only clients of an agent's own principal have its key. */
  readonly #keys = new Map<string, string | undefined>();

  take(recorded: RecordedEvent, fail: Fail): void {
    this.#check(recorded, fail);
    const { event } = recorded;
    // Whoever reports next under the alias has it.
    if (event.type === "fleet.forgotten" || event.type === "fleet.dismissed") {
      this.#owners.delete(event.alias);
    }
  }

  #check(recorded: RecordedEvent, fail: Fail): void {
    const { event } = recorded;
    const caller = byOfEvent(recorded)?.principal;
    if (event.type === "task.claimed") this.#claimers.set(event.taskId, event.claim.agentId);
    if (event.type === "agent.registered") this.#keys.set(event.agent.agentId, event.keyHash);
    if (caller === undefined) {
      if (CALLED.includes(event.type)) fail("every command has a caller", event.type);
      return;
    }
    if (RULES.includes(event.type) && !isOperator(caller)) {
      fail("only operators change the rules", `${event.type} by ${caller}`);
    }
    const owner = this.#ownerIn(event);
    if (owner !== undefined && owner !== caller && !isOperator(caller)) {
      fail("nobody acts for another's", `${event.type} of ${owner} by ${caller}`);
    }
    this.#made(event, caller, fail);
  }

  /** The log does not tell with which key a call came: those that called do. */
  end(ops: readonly Op[], fail: Fail): void {
    for (const { ask, outcome, id } of ops) {
      if (ask.kind !== "command" || outcome.kind !== "ok" || !("agentId" in ask.command)) continue;
      const { agentKey } = ask.by;
      const { agentId, type } = ask.command;
      if (
        agentKey !== undefined &&
        this.#keys.has(agentId) &&
        agentKey !== this.#keys.get(agentId)
      ) {
        fail("a wrong key acts for nobody", `#${id} ${type} of ${agentId}`);
      }
    }
  }

  /** What is made belongs to its caller. */
  #made(event: Event, caller: string, fail: Fail): void {
    const made = madeIn(event);
    if (!made) return;
    const before = this.#owners.get(made.id);
    this.#owners.set(made.id, made.owner);
    if (made.owner === caller) return;
    // An operator imports sessions, and its report may end what another's source says.
    const isForOther = event.type === "session.opened" || made.owner === before;
    if (!isForOther || !isOperator(caller)) {
      fail("what is made belongs to its caller", `${made.id} of ${made.owner} by ${caller}`);
    }
  }

  /** The owner of what the event is about, where only its owner may bring it about. */
  #ownerIn(event: Event): string | undefined {
    switch (event.type) {
      case "election.joined":
      case "election.left":
        return this.#owners.get(event.agentId);
      case "agent.recovered":
      case "agent.died":
        return this.#owners.get(event.agent.agentId);
      case "lease.acquired":
      case "lease.renewed":
      case "lease.released":
        return this.#owners.get(event.lease.holder);
      case "task.claimed":
        return this.#owners.get(event.claim.agentId);
      case "task.renewed":
      case "task.completed":
      case "task.returned":
        return this.#owners.get(this.#claimers.get(event.taskId) ?? "");
      case "task.cancelled":
        return this.#owners.get(event.taskId);
      case "fleet.reported":
        return this.#owners.get(event.report.alias);
      case "fleet.forgotten":
        return this.#owners.get(event.alias);
      case "job.cancelling":
        return event.job.principal;
      case "session.proved":
      case "session.subscribed":
      case "session.unsubscribed":
        return this.#owners.get(event.sessionId);
      default:
        return undefined;
    }
  }
}

function madeIn(event: Event): { readonly id: string; readonly owner: string } | undefined {
  switch (event.type) {
    case "agent.registered":
      return { id: event.agent.agentId, owner: ownerOf(event.agent) };
    case "task.created":
      return { id: event.task.id, owner: ownerOf(event.task) };
    case "policy.set":
      return { id: `policy ${event.policy.id}`, owner: ownerOf(event.policy) };
    case "fleet.reported":
      return { id: event.report.alias, owner: ownerOf(event.report) };
    case "job.submitted":
      return { id: event.job.id, owner: event.job.principal };
    case "session.opened":
    case "session.resumed":
      return { id: event.session.id, owner: event.session.principal };
    default:
      return undefined;
  }
}
