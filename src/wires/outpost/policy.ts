/**
 * Decides what leaves this machine. The rule is applied here, before anything is sent:
 *
 *   status      which agents and jobs there are, where, what they do, and that one asks something
 *   questions   the words of their questions, and the answers that one may choose from
 *   all         what came of their work
 *
 * Agents in a workspace that is excluded are not told of at all. Goals and commands can be left
 * out. What looks like a secret is taken out of every text, whatever is shared.
 */
import { normalize } from "node:path";
import { asLine } from "../../core/fields.ts";
import type { SentJob } from "../../core/host-jobs.ts";
import type { Job } from "../../core/jobs.ts";
import { FLEET } from "../../core/limits.ts";
import { ACCEPTS, SHARES, type Accept, type Share } from "../../core/outposts.ts";
import { matches } from "../../core/patterns.ts";
import { redact } from "../../core/redact.ts";
import type { Facts } from "../../core/reports.ts";
import { digestOf } from "./cursor.ts";

export const REDACTIONS = ["goals", "commands"] as const;
export type Redaction = (typeof REDACTIONS)[number];

export interface SharePolicy {
  readonly share: Share;
  readonly accept: Accept;
  /** Folders whose agents are not told of, with `*` for any characters. */
  readonly exclude: readonly string[];
  readonly redact: readonly Redaction[];
}

export function policyDigest({ share, exclude, redact: hidden }: SharePolicy): string {
  return digestOf(JSON.stringify([share, exclude.toSorted(), hidden.toSorted()])).slice(0, 8);
}

/** A folder that is excluded is so with everything below it, however either is written. */
export function isExcluded({ exclude }: SharePolicy, workspace: string): boolean {
  const folder = plainPath(workspace);
  return exclude
    .map(plainPath)
    .some((each) => matches(each, folder) || matches(`${each}/*`, folder));
}

function plainPath(path: string): string {
  return normalize(path).replace(/[/\\]+$/, "");
}

function mayShare({ share }: SharePolicy, what: Share): boolean {
  return SHARES.indexOf(share) >= SHARES.indexOf(what);
}

export function mayAccept(accept: Accept, what: Accept): boolean {
  return ACCEPTS.indexOf(accept) >= ACCEPTS.indexOf(what);
}

/** The facts that leave. */
export function sharedFacts(facts: Facts, policy: SharePolicy): Facts {
  const { name, workspace, goal, liveness, activity, question, outcome, ...rest } = facts;
  const hidesCommands = policy.redact.includes("commands");
  return {
    ...rest,
    ...(name !== undefined && { name: redact(name) }),
    ...(workspace !== undefined && { workspace: redact(workspace) }),
    liveness: { ...liveness, rule: redact(liveness.rule) },
    ...(goal !== undefined && !policy.redact.includes("goals") && { goal: redact(goal) }),
    ...(activity && { activity: sharedActivity(activity, hidesCommands) }),
    ...(question && { question: sharedQuestion(question, policy) }),
    ...(outcome && { outcome: sharedOutcome(outcome, policy) }),
  };
}

function sharedActivity(activity: Present<"activity">, isBare: boolean): Present<"activity"> {
  const { value, message, task } = activity;
  const rule = redact(activity.rule);
  if (isBare) return { value, rule };
  return {
    value,
    rule,
    ...(message !== undefined && { message: redact(message) }),
    ...(task !== undefined && { task: redact(task) }),
  };
}

type Present<Name extends keyof Facts> = NonNullable<Facts[Name]>;

/** That something is asked is status; a permission is most often asked for a command. */
function sharedQuestion(question: Present<"question">, policy: SharePolicy): Present<"question"> {
  const { value } = question;
  const rule = redact(question.rule);
  const { kind, sinceMs, text, options } = value;
  const isCommand = kind === "permission" && policy.redact.includes("commands");
  if (!mayShare(policy, "questions") || isCommand)
    return { rule, value: { kind, text: "", sinceMs } };
  return {
    rule,
    value: {
      kind,
      sinceMs,
      text: redact(text),
      ...(options && { options: options.map((each) => redact(each)) }),
    },
  };
}

/** That a job runs, for whom and since when is status; why it failed is what came of it. */
export function sharedJob(job: Job, policy: SharePolicy): SentJob {
  const { id, agent, principal, parent, status } = job;
  const { submittedAtMs, startedAtMs, endedAtMs, restarts, code } = job;
  const about = { id, agent, principal, parent, status, restarts, code };
  const reason = mayShare(policy, "all") ? asLine(redact(job.reason), FLEET.textLength) : "";
  return {
    ...about,
    submittedAtMs: Math.floor(submittedAtMs),
    startedAtMs: Math.floor(startedAtMs),
    endedAtMs: Math.floor(endedAtMs),
    reason,
  };
}

function sharedOutcome(outcome: Present<"outcome">, policy: SharePolicy): Present<"outcome"> {
  const { text, ...rest } = outcome;
  const bare = { ...rest, rule: redact(outcome.rule) };
  const isTold = mayShare(policy, "all") && text !== undefined;
  return isTold ? { ...bare, text: redact(text) } : bare;
}
