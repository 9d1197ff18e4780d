/** Reports of scripts and other programs about agents. */
import { z } from "zod";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { ACTIVITIES, LIVENESS, OUTCOMES, QUESTION_KINDS, type Report } from "../core/reports.ts";
import { hostOf, sourcesOf, wireOf } from "../core/wires.ts";
import { text, whole, yesOrNo } from "./fields.ts";
import { operation, type Uses } from "./operation.ts";
import { quoted } from "./parse.ts";

const rule = z.string().default("it says so");
const atMs = z.int();

export const FACTS = z.strictObject({
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

const REPORT = z.strictObject({
  alias: text(
    "The name that its source has for it: WIRE:NAME, or WIRE@HOST:NAME on one machine",
    "script@box:nightly",
  ),
  agentId: text("The agent whose row it belongs to", "nightly"),
  links: z.array(z.string()).default([]).describe("Aliases on other wires of the same agent"),
  order: whole("Grows with every report; its time unless set").optional(),
  reportedAtMs: atMs.optional().describe("When it was so; now unless set"),
  ttlMs: whole(
    "It is repeated at least twice in this time; else the agent counts as stale",
  ).optional(),
  facts: FACTS.meta({ examples: [{ liveness: { value: "alive" } }] }),
});

type ReportInput = z.output<typeof REPORT>;

/** An outpost speaks for sources on its own host alone. */
function checkHost({ alias, links }: ReportInput, host: string): void {
  const elsewhere = [alias, ...links].find((each) => hostOf(each) !== host);
  if (elsewhere === undefined) return;
  const message = `${quoted(elsewhere)} is not on ${host}: this token reports WIRE@${host}:NAME`;
  throw new RollcallError("PERMISSION_DENIED", message);
}

/** An outpost is the wires of its host, an operator speaks for all; other callers are none. */
function checkWire({ alias }: ReportInput): void {
  const sources = sourcesOf(alias);
  if (sources === undefined) return;
  throw invalidArgument(`alias is ${quoted(alias)}: only ${sources} speak for ${wireOf(alias)}`);
}

function reportOf(body: ReportInput, nowMs: number): Report {
  const { reportedAtMs = nowMs, order = reportedAtMs } = body;
  // Absent fields stay absent: the state tells absent from undefined.
  return JSON.parse(JSON.stringify({ ...body, reportedAtMs, order })) as Report;
}

export const report = operation({
  path: "/v1/fleet/reports",
  effect: "sets",
  access: { action: "fleet.report", resource: "agent:{agentId}" },
  brief: "Report what an agent does",
  about:
    "Report what a script or program knows of an agent. Reports with the same agentId are " +
    "one row; one older than the last known changes nothing.",
  input: REPORT,
  output: z.strictObject({ isNew: yesOrNo("Whether it said anything new") }),
  run: async ({ engine, fleet }: Uses<"engine" | "fleet">, body, { by }) => {
    const { host } = by.principal;
    if (host !== undefined) checkHost(body, host);
    else if (!by.isOperator) checkWire(body);
    return { isNew: await fleet.report(reportOf(body, engine.nowMs), by) };
  },
});
