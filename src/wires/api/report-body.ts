/** `POST /v1/fleet/reports`: what a script or another program says of an agent. */
import { z } from "zod";
import { ACTIVITIES, LIVENESS, OUTCOMES, QUESTION_KINDS, type Report } from "../../core/reports.ts";
import { quoted, wrong } from "./parse.ts";

const rule = z.string().default("it says so");
const atMs = z.int();

const FACTS = z.strictObject({
  name: z.string().optional(),
  workspace: z.string().optional(),
  goal: z.string().optional(),
  process: z.strictObject({ pid: z.int(), startedAtMs: atMs.optional() }).optional(),
  liveness: z.strictObject({ value: z.enum(LIVENESS), rule }),
  activity: z
    .strictObject({
      value: z.enum(ACTIVITIES),
      rule,
      message: z.string().optional(),
      task: z.string().optional(),
    })
    .optional(),
  question: z
    .strictObject({
      value: z.strictObject({
        kind: z.enum(QUESTION_KINDS),
        text: z.string(),
        options: z.array(z.string()).optional(),
        sinceMs: atMs,
      }),
      rule,
    })
    .optional(),
  outcome: z
    .strictObject({ value: z.enum(OUTCOMES), rule, text: z.string().optional(), atMs })
    .optional(),
  lastActivityAtMs: atMs.optional(),
});

export const REPORT = z.strictObject({
  alias: z.string(),
  agentId: z.string(),
  links: z.array(z.string()).default([]),
  /** Its time where it is not given. */
  order: z.int().optional(),
  /** Now where it is not given. */
  reportedAtMs: atMs.optional(),
  /** Repeated at least twice in it; else the agent counts as stale. */
  ttlMs: z.int().optional(),
  facts: FACTS,
});

/** Whose aliases only their own wire speaks for. */
const OWNED = [
  ["file@", "the status files of a machine"],
  ["keeper:", "the registry"],
] as const;

export function reportOf(body: z.output<typeof REPORT>, nowMs: number): Report {
  for (const [prefix, owner] of OWNED) {
    if (body.alias.startsWith(prefix)) {
      throw wrong(`alias is ${quoted(body.alias)}: only ${owner} speak for ${prefix}…`);
    }
  }
  const { reportedAtMs = nowMs, order = reportedAtMs } = body;
  // What was not given is not there: the state tells what is absent from what is undefined.
  return JSON.parse(JSON.stringify({ ...body, reportedAtMs, order })) as Report;
}
