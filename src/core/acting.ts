/**
 * Which caller may act for an agent: the one place where a command is refused because of its
 * caller. The doors ask what a role may do at all; this rule asks whose the agent is.
 *
 *   its key came with the call, right or wrong  ─▶ the key decides, also for an operator
 *   an operator                                 ─▶ may
 *   its key was used before                     ─▶ refused without it
 *   the principal that registered it            ─▶ may
 *
 * An agent gets its key when it registers. One that never sends it (the protocol of before has no
 * such thing) is held to its principal alone.
 */
import { beat, livingAgent, type AgentEntry } from "./agents.ts";
import { AGENT_KEY, ownerOf, type By } from "./by.ts";
import { refuse, type Refusal } from "./decide.ts";
import { notOfHost } from "./outposts.ts";
import type { Report } from "./reports.ts";
import type { Command } from "./rules.ts";
import type { State } from "./state.ts";

/** Why the caller may not have this decided; undefined when it may. */
export function outsider(state: State, command: Command, by: By): Refusal | undefined {
  if (by.isOperator && by.agentKey === undefined) return undefined;
  switch (command.type) {
    case "agent.heartbeat":
    case "agent.deregister":
    case "lease.acquire":
    case "lease.renew":
    case "lease.release":
    case "election.campaign":
    case "election.resign":
    case "task.claim":
    case "task.renew":
    case "task.complete":
    case "task.fail":
    case "task.return":
      return outsiderTo(state.agents.byId.get(command.agentId), by);
    case "task.cancel":
      return notOwner(state.tasks.byId.get(command.taskId)?.task, `task ${command.taskId}`, by);
    case "fleet.report":
      return notReporter(state, command.report, by);
    case "fleet.forget":
      return notOwner(state.reports.byAlias.get(command.alias)?.report, command.alias, by);
    case "job.submit":
    case "session.open":
    case "session.resume":
      return inNameOf(command.principal, by);
    case "session.prove":
    case "session.subscribe":
    case "session.unsubscribe": {
      const session = state.sessions.byId.get(command.sessionId)?.session;
      return session && inNameOf(session.principal, by);
    }
    case "outpost.join":
    case "outpost.beat":
    case "outpost.take":
    case "outpost.leave":
      return notOfHost(command.host, by);
    case "agent.register":
    case "task.create":
    case "directory.heartbeat":
      return undefined;
    case "job.cancel": {
      // From a session its own rule knows who may, and hides the jobs of others.
      const job = command.from ? undefined : state.jobs.byId.get(command.jobId)?.job;
      return job && inNameOf(job.principal, by);
    }
    case "policy.set":
    case "policy.delete":
    case "token.create":
    case "token.revoke":
    case "question.dismiss":
    case "fleet.dismiss":
    case "directory.confirm":
    case "directory.doubt":
    case "directory.remove":
    case "job.end":
    case "job.revive":
    case "job.progress":
    case "job.import":
    case "session.import":
    case "credential.request":
    case "credential.issue":
    case "credential.revoke":
    case "node.join":
    case "node.leave":
    case "node.finalize":
      if (by.isOperator) return undefined;
      return refuse("PERMISSION_DENIED", `${by.principal.name} may not ${command.type}`);
  }
}

/** Why the caller may not act for an agent. Of one that is not there its rules will tell. */
function outsiderTo(entry: AgentEntry | undefined, by: By): Refusal | undefined {
  if (!entry) return undefined;
  const { agent, keyHash, isBound } = entry;
  if (by.agentKey !== undefined) {
    if (by.agentKey === keyHash) return undefined;
    return refuse("PERMISSION_DENIED", `the key is not that of agent ${agent.agentId}`);
  }
  if (by.isOperator) return undefined;
  if (isBound) {
    const fix = `send it as ${AGENT_KEY}`;
    return refuse("PERMISSION_DENIED", `agent ${agent.agentId} is bound to its key: ${fix}`);
  }
  return notOwner(agent, `agent ${agent.agentId}`, by);
}

/** Whether the call proves, for the first time, that its caller has the agent's key. */
export function isFirstProof({ keyHash, isBound }: AgentEntry, { agentKey }: By): boolean {
  return agentKey !== undefined && agentKey === keyHash && !isBound;
}

/** An agent, and the caller that acts for it. */
export interface Actor {
  readonly agentId: string;
  readonly by: By;
}

/** Takes a heartbeat of a caller that may send it; false when it takes a decision. */
export function beatBy(state: State, actor: Actor, nowMs: number): boolean {
  return maySend(state, actor) && beat(state, actor.agentId, nowMs);
}

/** The same without taking it. */
export function canBeat(state: State, actor: Actor): boolean {
  return state.agents.byId.get(actor.agentId)?.agent.status === "alive" && maySend(state, actor);
}

function maySend(state: State, { agentId, by }: Actor): boolean {
  if (by.isOperator && by.agentKey === undefined) return true;
  const entry = state.agents.byId.get(agentId);
  return entry !== undefined && !outsiderTo(entry, by) && !isFirstProof(entry, by);
}

/** The agent, if it is not dead and the caller may act for it. */
export function actorIn(state: State, { agentId, by }: Actor): AgentEntry | Refusal {
  const entry = livingAgent(state, agentId);
  return "ok" in entry ? entry : (outsiderTo(entry, by) ?? entry);
}

function notOwner(
  owned: { readonly owner?: string | undefined } | undefined,
  name: string,
  by: By,
): Refusal | undefined {
  if (!owned || by.isOperator || ownerOf(owned) === by.principal.name) return undefined;
  return refuse("PERMISSION_DENIED", `${name} is not of ${by.principal.name}`);
}

/** A report speaks for its alias, and for the agent in whose row it shall stand. */
function notReporter(state: State, { alias, agentId }: Report, by: By): Refusal | undefined {
  const before = state.reports.byAlias.get(alias)?.report;
  return notOwner(before, alias, by) ?? outsiderTo(state.agents.byId.get(agentId), by);
}

function inNameOf(principal: string, by: By): Refusal | undefined {
  if (by.isOperator || principal === by.principal.name) return undefined;
  return refuse("PERMISSION_DENIED", `${by.principal.name} may not act for ${principal}`);
}
