/** A status file as a report to the fleet: what it says, in the fleet's words, with the rule. */
import { asLine, asProse } from "../../core/fields.ts";
import { FLEET } from "../../core/limits.ts";
import type { ReportedQuestion, Facts, Report, ReportedProcess } from "../../core/reports.ts";
import type { Status } from "./format.ts";
import type { Vitality } from "./liveness.ts";
import { readMeta, type MetaFacts } from "./meta.ts";
import type { StatusFile } from "./read.ts";
import { activeAtMs, activityIn, isAsking, outcomeIn, askedSinceMs } from "./standing.ts";

/** Facts of an agent beside its file. */
export interface FileCircumstances extends Vitality {
  readonly host: string;
  /** When the process of the file began, where that is known. */
  readonly processStartedAtMs?: number | undefined;
  /** Since when its task is in the state it is in, where the file does not say. */
  readonly inStateSinceMs: number;
}

export function aliasOf(host: string, { agent_id }: Status): string {
  return `file@${host}:${asLine(agent_id, FLEET.nameLength)}`;
}

export function reportOf(file: StatusFile, about: FileCircumstances): Report {
  const { status, updatedAtMs } = file;
  const { runtime, goal, a2a } = status;
  const own = readMeta(status);
  const heldMs = askedSinceMs(status);
  const inStateSinceMs = heldMs ?? about.inStateSinceMs;
  const lastActivityAtMs = activeAtMs(file);
  const cardUrl = a2a?.agent_card_url;
  const { workspace, pid } = runtime;
  const facts: Facts = {
    name: asLine(status.agent_name, FLEET.nameLength),
    ...(workspace !== undefined && { workspace: asLine(workspace, FLEET.workspaceLength) }),
    ...(goal && { goal: asProse(goal.summary, FLEET.textLength) }),
    ...(pid !== undefined && pid >= 0 && { process: processOf(pid, about) }),
    liveness: about.liveness,
    activity: activityOf(status, own),
    ...(isAsking(status) && { question: questionOf(status, own, inStateSinceMs) }),
    ...outcomeOf(status, inStateSinceMs),
    ...(lastActivityAtMs !== undefined && { lastActivityAtMs }),
  };
  return {
    alias: aliasOf(about.host, status),
    agentId: asLine(own.agentId ?? status.agent_id, FLEET.nameLength),
    links: cardUrl ? [`a2a:${asLine(cardUrl, FLEET.aliasLength - 4)}`] : [],
    order: updatedAtMs,
    reportedAtMs: updatedAtMs,
    ...(heldMs !== undefined && { sinceMs: heldMs }),
    facts,
  };
}

function processOf(pid: number, about: FileCircumstances): ReportedProcess {
  const { processStartedAtMs: startedAtMs, hasEnded } = about;
  return {
    pid,
    ...(startedAtMs !== undefined && { startedAtMs }),
    ...(hasEnded && { hasEnded }),
  };
}

function activityOf(status: Status, own: MetaFacts): NonNullable<Facts["activity"]> {
  const { task } = status;
  const value = activityIn(status);
  if (!task?.state) {
    return { value, rule: value === "idle" ? "it has no task" : "its task has no state" };
  }
  const isFiner = task.state === "working" && own.activity !== undefined;
  const rule = isFiner ? "x_meta.rollcall.activity" : `task.state is ${task.state}`;
  return {
    value,
    rule,
    ...(task.summary && { message: asProse(task.summary, FLEET.textLength) }),
    ...(own.currentTask && { task: asProse(own.currentTask, FLEET.textLength) }),
  };
}

function questionOf(
  { task }: Status,
  { question: said }: MetaFacts,
  askedAtMs: number,
): NonNullable<Facts["question"]> {
  const fallback = task?.state === "auth-required" ? "auth" : "text";
  const asked: ReportedQuestion = {
    kind: said.kind ?? fallback,
    text: asProse(said.text ?? task?.summary ?? "", FLEET.questionLength),
    ...(said.options && {
      options: said.options.slice(0, FLEET.options).map((each) => asLine(each, FLEET.nameLength)),
    }),
    sinceMs: askedAtMs,
  };
  return { value: asked, rule: `task.state is ${task?.state}` };
}

function outcomeOf(status: Status, atMs: number): Pick<Facts, "outcome"> {
  const value = outcomeIn(status);
  if (!value) return {};
  const { state, summary } = status.task ?? {};
  const about = summary ? { text: asProse(summary, FLEET.textLength) } : {};
  return { outcome: { value, rule: `task.state is ${state}`, atMs, ...about } };
}
