/**
 * The audit trail's contents: changes that others rely on (policies, tokens, cancels, dismissals),
 * every act for somebody else, and everything that was denied. The rest is in the events, which say
 * their caller as well and are kept for a shorter time.
 */
import { ownerOf, type By, type RecordedBy } from "./by.ts";
import type { Report } from "./reports.ts";
import type { Command } from "./rules.ts";
import type { State } from "./state.ts";

export interface AuditEntry {
  readonly atMs: number;
  readonly by: RecordedBy;
  /** The command, or the action that was asked for. */
  readonly action: string;
  /** NOUN:ID, of what it was done to; empty where that is not known. */
  readonly target: string;
  readonly outcome: "done" | "denied";
  /** How often within a minute it was denied; 1 for what was done. */
  readonly count: number;
  /** Why it was denied; empty for what was done. */
  readonly reason: string;
}

/** The target of a command that belongs into the audit; undefined for all others. */
export function auditedTarget(state: State, command: Command, by: By): string | undefined {
  switch (command.type) {
    case "policy.set":
      return `policy:${command.policy.id}`;
    case "policy.delete":
      return `policy:${command.id}`;
    case "token.create":
    case "token.revoke":
      return `token:${command.name}`;
    case "task.cancel":
      return `task:${command.taskId}`;
    case "job.cancel":
      return command.from || by.wire === "outpost" ? `job:${command.jobId}` : undefined;
    case "question.dismiss":
      return `question:${command.id}`;
    case "fleet.dismiss":
      return `report:${command.aliases.join(" ")}`;
    case "outpost.join":
    case "outpost.leave":
      return `outpost:${command.host}`;
    case "node.leave":
      return command.instance === undefined ? `node:${command.node}` : undefined;
    case "node.finalize":
      return "cluster:format";
    case "directory.remove":
      return `directory:${command.url}`;
    case "fleet.report":
      return reportOfAnother(state, command.report, by);
    case "fleet.forget":
      return anothersReport(state, command.alias, by);
    default:
      return "agentId" in command ? anothersAgent(state, command.agentId, by) : undefined;
  }
}

/** Once: the alias is the caller's from then on, and the row stays the one it was. */
function reportOfAnother(state: State, { alias, agentId }: Report, by: By): string | undefined {
  const before = state.reports.byAlias.get(alias)?.report;
  const isNewHere = before?.agentId !== agentId;
  return (
    anothersReport(state, alias, by) ?? (isNewHere ? anothersAgent(state, agentId, by) : undefined)
  );
}

function anothersReport({ reports }: State, alias: string, by: By): string | undefined {
  const report = reports.byAlias.get(alias)?.report;
  return report && ownerOf(report) !== by.principal.name ? `report:${alias}` : undefined;
}

export function anothersAgent({ agents }: State, agentId: string, by: By): string | undefined {
  const agent = agents.byId.get(agentId)?.agent;
  return agent && ownerOf(agent) !== by.principal.name ? `agent:${agentId}` : undefined;
}
