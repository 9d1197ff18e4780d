/**
 * Whose the things in the log are, and who acted on them: from the callers that events tell, kept
 * apart from the rules. Nothing changes but by its owner, an operator, or the engine itself.
 */
import { ownerOf } from "../../src/core/by.ts";
import { byOfEvent, type Event, type RecordedEvent, type Topic } from "../../src/core/events.ts";
import { reportingHost } from "../../src/core/report-owners.ts";
import { isOperator, outpostName } from "./callers.ts";
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
  /** Of agents: whoever has the key of one may act for it, which the log does not tell. */
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
    if (this.#isOfOutpost(event, caller, fail)) return;
    const owner = this.#ownerIn(event);
    if (owner !== undefined && owner !== caller && !isOperator(caller)) {
      fail("nobody acts for another's", `${event.type} of ${owner} by ${caller}`);
    }
    this.#made(event, caller, fail);
  }

  /** What is told of a host belongs to the host, and only its outpost tells it. */
  #isOfOutpost(event: Event, caller: string, fail: Fail): boolean {
    if (event.type !== "fleet.reported") return false;
    const host = reportingHost(event.report);
    if (host === undefined) return false;
    if (caller !== outpostName(host) && !isOperator(caller)) {
      fail("nobody acts for another's", `${event.report.alias} by ${caller}`);
    }
    return true;
  }

  /** With which key a call came only its caller tells. */
  end(ops: readonly Op[], fail: Fail): void {
    for (const { ask, outcome, id } of ops) {
      if (ask.kind !== "command" || outcome.kind !== "ok" || !("agentId" in ask.command)) continue;
      const { agentKey, principal } = ask.by;
      const { agentId, type } = ask.command;
      const [owner, key] = [this.#owners.get(agentId), this.#keys.get(agentId)];
      if (owner === undefined) continue;
      const call = `#${id} ${type} of ${agentId} by ${principal.name}`;
      if (agentKey !== undefined && agentKey !== key) fail("a wrong key acts for nobody", call);
      const mayAct = owner === principal.name || isOperator(principal.name) || agentKey === key;
      if (!mayAct) fail("nobody acts for another's", call);
    }
  }

  /** What is made belongs to its caller. */
  #made(event: Event, caller: string, fail: Fail): void {
    const made = madeIn(event);
    if (!made) return;
    const before = this.#owners.get(made.id);
    this.#owners.set(made.id, made.owner);
    if (made.owner === caller) return;
    // An operator opens sessions and submits jobs in the name of others, and its report may end
    // what another's source says.
    const isNamed = event.type === "session.opened" || event.type === "job.submitted";
    const isForOther = isNamed || made.owner === before;
    if (!isForOther || !isOperator(caller)) {
      fail("what is made belongs to its caller", `${made.id} of ${made.owner} by ${caller}`);
    }
  }

  /** The owner of what the event is about, where only its owner may bring it about. */
  #ownerIn(event: Event): string | undefined {
    switch (event.type) {
      case "election.joined":
      case "election.left":
        return this.#ownerOfAgent(event.agentId);
      case "agent.recovered":
      case "agent.died":
        return this.#ownerOfAgent(event.agent.agentId);
      case "lease.acquired":
      case "lease.renewed":
      case "lease.released":
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

  #ownerOfAgent(agentId: string): string | undefined {
    return this.#keys.get(agentId) === undefined ? this.#owners.get(agentId) : undefined;
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
