/**
 * What a client thinks it has. It learns only from answers, so it is often behind: it goes on with
 * tokens of leases that ran out and claims that others have by now, as real clients do.
 */
import type { Agent } from "../../src/core/agents.ts";
import type { Lease } from "../../src/core/leases.ts";
import type { Command, ReplyTo } from "../../src/core/rules.ts";
import type { Session } from "../../src/core/sessions.ts";
import type { Task } from "../../src/core/tasks.ts";

/** That one client goes on with, besides its last. */
const SESSIONS = 2;

/** What all clients know of: few names, so that they collide. */
export interface Names {
  readonly keys: readonly string[];
  readonly groups: readonly string[];
  readonly policies: readonly string[];
  readonly tools: readonly string[];
  /** Of anybody, in the order in which they became known. */
  readonly agentIds: string[];
  readonly taskIds: string[];
  readonly jobIds: string[];
  /** Those that were open when somebody last looked at everything. */
  questionIds: readonly string[];
  readonly nodes: readonly string[];
  /** The node that leads, or any where none does: not what a client could know. */
  readonly leader: () => string;
}

export function names(nodes: readonly string[], leader: () => string): Names {
  return {
    keys: ["key-1", "key-2", "key-3"],
    groups: ["group-1", "group-2"],
    policies: ["policy-1", "policy-2"],
    tools: ["browser", "shell"],
    agentIds: [],
    taskIds: [],
    jobIds: [],
    questionIds: [],
    nodes,
    leader,
  };
}

export class Beliefs {
  readonly agents = new Map<string, Agent>();
  /** The keys of those that use one. */
  readonly keys = new Map<string, string>();
  readonly leases: Lease[] = [];
  readonly claims: Task[] = [];
  /** By host: the session of its last join, and how far it was taken. */
  readonly outposts = new Map<string, { readonly session: string; readonly cursor: string }>();
  /** Each as it last was told. */
  sessions: Session[] = [];
  /** The last subscription of one of its sessions. */
  followed: { readonly sessionId: string; readonly jobId: string } | undefined;

  learn<C extends Command>(command: C, reply: ReplyTo<C>, known: Names): void {
    const told = { type: command.type, reply } as Told;
    if (command.type === "session.subscribe") {
      const { sessionId, jobId } = command;
      this.followed = { sessionId, jobId };
    }
    switch (told.type) {
      case "agent.register":
        if (command.type === "agent.register" && command.keyHash !== undefined) {
          this.keys.set(told.reply.agentId, command.keyHash);
        }
        this.agents.set(told.reply.agentId, told.reply);
        known.agentIds.push(told.reply.agentId);
        return;
      case "lease.acquire":
        if (told.reply.acquired) this.leases.push(told.reply.lease);
        return;
      case "task.create":
        known.taskIds.push(told.reply.id);
        return;
      case "task.claim":
        if (told.reply) this.claims.push(told.reply);
        return;
      case "job.submit":
        known.jobIds.push(told.reply.job.id);
        return;
      case "session.open":
      case "session.resume": {
        const others = this.sessions.filter(({ id }) => id !== told.reply.id);
        this.sessions = [...others.slice(-SESSIONS), told.reply];
        return;
      }
      case "outpost.join": {
        const { host, session, cursor } = told.reply;
        this.outposts.set(host, { session, cursor });
        return;
      }
      case "outpost.take":
        if (command.type === "outpost.take") {
          this.outposts.set(command.host, { session: command.session, cursor: command.to });
        }
        return;
      case "outpost.beat":
      case "outpost.leave":
      case "agent.heartbeat":
      case "node.join":
      case "node.leave":
      case "node.finalize":
      case "fleet.report":
      case "fleet.forget":
      case "fleet.dismiss":
      case "question.dismiss":
      case "job.cancel":
      case "job.end":
      case "job.revive":
      case "job.progress":
      case "job.import":
      case "session.prove":
      case "session.subscribe":
      case "session.unsubscribe":
      case "session.import":
      case "credential.request":
      case "credential.issue":
      case "credential.revoke":
      case "token.create":
      case "token.revoke":
      case "agent.deregister":
      case "lease.renew":
      case "lease.release":
      case "election.campaign":
      case "election.resign":
      case "policy.set":
      case "policy.delete":
      case "task.cancel":
      case "task.renew":
      case "task.complete":
      case "task.fail":
      case "task.return":
      case "directory.heartbeat":
      case "directory.confirm":
      case "directory.doubt":
      case "directory.remove":
        return;
    }
  }
}

type Told = {
  [T in Command["type"]]: { type: T; reply: ReplyTo<Command & { type: T }> };
}[Command["type"]];
