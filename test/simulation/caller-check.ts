/**
 * Whose the things in the log are, and who acted on them: from the callers that events tell, kept
 * apart from the rules. Nothing changes but by its owner, an operator, or the engine itself.
 */
import { ownerOf } from "../../src/core/by.ts";
import { byOfEvent, type Event, type RecordedEvent, type Topic } from "../../src/core/events.ts";
import { isOperator } from "./callers.ts";

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
  "directory.removed",
];

export class CallerCheck {
  /** By agent, task and alias. */
  readonly #owners = new Map<string, string>();
  readonly #claimers = new Map<string, string>();
  /** Agents that are bound to their key: whoever has it may act for one. */
  readonly #bound = new Set<string>();
  /** Agents that have a key: one that leaves by it is not bound to it before. */
  readonly #keyed = new Set<string>();

  take(recorded: RecordedEvent, fail: Fail): void {
    const { event } = recorded;
    const caller = byOfEvent(recorded)?.principal;
    if (event.type === "task.claimed") this.#claimers.set(event.taskId, event.claim.agentId);
    if (event.type === "agent.bound") this.#bound.add(event.agentId);
    if (event.type === "agent.registered" && event.keyHash !== undefined) {
      this.#keyed.add(event.agent.agentId);
    }
    if (caller === undefined) {
      if (CALLED.includes(event.type)) fail("every command has a caller", event.type);
      return;
    }
    if (RULES.includes(event.type) && !isOperator(caller)) {
      fail("only operators change the rules", `${event.type} by ${caller}`);
    }
    this.#made(event, caller, fail);
    const owner = this.#ownerIn(event);
    if (owner !== undefined && owner !== caller && !isOperator(caller)) {
      fail("nobody acts for another's", `${event.type} of ${owner} by ${caller}`);
    }
  }

  /** What is made belongs to its caller. */
  #made(event: Event, caller: string, fail: Fail): void {
    const made = madeIn(event);
    if (!made) return;
    this.#owners.set(made.id, made.owner);
    if (made.owner !== caller) {
      fail("what is made belongs to its caller", `${made.id} of ${made.owner} by ${caller}`);
    }
  }

  /** The owner of what the event is about, where only its owner may bring it about. */
  #ownerIn(event: Event): string | undefined {
    switch (event.type) {
      case "election.joined":
        return this.#ownerOfAgent(event.agentId);
      case "agent.recovered":
        return this.#ownerOfAgent(event.agent.agentId);
      case "agent.died": {
        const { agentId } = event.agent;
        return this.#keyed.has(agentId) ? undefined : this.#ownerOfAgent(agentId);
      }
      case "lease.acquired":
      case "lease.renewed":
        return this.#ownerOfAgent(event.lease.holder);
      case "task.claimed":
        return this.#ownerOfAgent(event.claim.agentId);
      case "task.renewed":
      case "task.completed":
      case "task.returned":
        return this.#ownerOfAgent(this.#claimers.get(event.taskId) ?? "");
      case "task.cancelled":
        return this.#owners.get(event.taskId);
      case "fleet.reported":
        return this.#owners.get(event.report.alias);
      default:
        return undefined;
    }
  }

  #ownerOfAgent(agentId: string): string | undefined {
    return this.#bound.has(agentId) ? undefined : this.#owners.get(agentId);
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
    default:
      return undefined;
  }
}
