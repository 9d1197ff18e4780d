/** Rows of the fleet and questions of agents as they are answered. */
import { z } from "zod";
import { ACTIVITIES, LIVENESS, OUTCOMES, QUESTION_KINDS } from "../core/reports.ts";
import { HEADLINES } from "../fleet/headline.ts";
import { moment, OWNER, text, whole } from "./fields.ts";
import { JOB } from "./jobs.ts";

const EVIDENCE = z
  .strictObject({
    wire: z.string().meta({ examples: ["file"] }),
    alias: text("The source that said it", "file@box:claude-7d5d6ca5"),
    rule: z.string().meta({ examples: ["its file is fresh"] }),
    reportedAtMs: moment("When it was said"),
    order: z.number(),
  })
  .meta({ id: "Evidence", description: "Why a value is believed" });

const ASKED = {
  kind: z.enum(QUESTION_KINDS),
  text: z.string().meta({ examples: ["Shall I drop the table?"] }),
  options: z.array(z.string()).exactOptional(),
  sinceMs: moment("Since when it waits"),
} as const;

const saidOrNot = z.string().nullable();

const ROW_JOB = JOB.extend({
  activity: z.enum(ACTIVITIES),
  why: text("What it does, asks or came to, in a few words"),
  question: z.strictObject(ASKED).nullable(),
}).meta({ id: "RowJob" });

export const ROW_SHAPE = z
  .strictObject({
    id: z.string().meta({ examples: ["claude-7d5d6ca5"] }),
    name: z.string().meta({ examples: ["claude-code"] }),
    headline: z.enum(HEADLINES),
    why: text("The reason for the headline, in a few words"),
    because: text("The rule that chose the headline"),
    sinceMs: moment("Since when it is so").nullable(),
    host: saidOrNot
      .describe("The machine whose outpost tells of it; null for one seen by this daemon itself")
      .meta({ examples: ["box"] }),
    workspace: saidOrNot.meta({ examples: ["/src/shop"] }),
    goal: saidOrNot,
    liveness: z.strictObject({ value: z.enum(LIVENESS), evidence: EVIDENCE }),
    activity: z.strictObject({
      value: z.enum(ACTIVITIES),
      evidence: EVIDENCE,
      message: saidOrNot,
      task: saidOrNot,
    }),
    blockedOn: z
      .strictObject({ value: z.strictObject(ASKED), evidence: EVIDENCE })
      .nullable()
      .describe("The question that it waits for a person to answer"),
    outcome: z
      .strictObject({
        value: z.enum(OUTCOMES),
        evidence: EVIDENCE,
        text: saidOrNot,
        atMs: moment("When it ended"),
      })
      .nullable()
      .describe("How its last turn or task ended"),
    stuckSinceMs: moment("Since when nothing happens, if that is too long").nullable(),
    lastActivityAtMs: moment("When it last did something").nullable(),
    jobs: z
      .strictObject({
        running: whole("How many run"),
        waiting: whole("How many wait for a slot"),
        newest: z.array(ROW_JOB).describe("Those that have not ended first, the newest first"),
      })
      .nullable()
      .describe("The jobs that it runs and ran; null for an agent that runs none"),
    aliases: z.array(z.string()).describe("Its names on all wires"),
    reportedAtMs: moment("When something of it was last told"),
  })
  .meta({ id: "Row" });

export const COUNTS = z
  .strictObject({
    "NEEDS YOU": z.int(),
    PROBLEM: z.int(),
    WORKING: z.int(),
    IDLE: z.int(),
    GONE: z.int(),
  })
  .describe("Of all agents, also of those not shown, but for those silent for more than a day");

export const QUESTION_STATES = ["open", "answered", "withdrawn", "expired", "dismissed"] as const;

export const QUESTION_SHAPE = z
  .strictObject({
    ...ASKED,
    id: z.string(),
    owner: OWNER,
    agentId: z.string().meta({ examples: ["claude-7d5d6ca5"] }),
    alias: text("The source of the agent that asks"),
    state: z.enum(QUESTION_STATES),
    endedAtMs: moment("When it ended; 0 while it is open"),
    name: text("The name of its agent", "claude-code"),
    workspace: saidOrNot,
  })
  .meta({ id: "Question" });
