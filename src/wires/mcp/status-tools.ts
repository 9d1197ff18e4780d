/** An agent reports its own status, so that people see what it does and whether it needs them. */
import { z } from "zod";
import {
  ACTIVITIES,
  OUTCOMES,
  QUESTION_KINDS,
  type Facts,
  type Report,
} from "../../core/reports.ts";
import { TABLE } from "../../operations/table.ts";
import { STATUS } from "./limits.ts";
import { AGENT_ID } from "./operation-tool.ts";
import { SETS, tool, type Tool } from "./tool.ts";

const INPUT = z.strictObject({
  activity: z.enum(ACTIVITIES).describe("What you do now; idle when you are done"),
  agent_id: AGENT_ID,
  name: z.string().optional().describe("What people know you by"),
  message: z.string().optional().describe("In a few words, for people"),
  task: z.string().optional().describe('Where you are, such as "Step 2/5: tests"'),
  goal: z.string().optional().describe("What all of it is for"),
  workspace: z.string().optional().describe("The folder you work in"),
  question: z
    .strictObject({
      kind: z.enum(QUESTION_KINDS),
      text: z.string(),
      options: z.array(z.string()).optional(),
    })
    .optional()
    .describe("What you wait for a person to answer; leave it out once it is answered"),
  outcome: z.enum(OUTCOMES).optional().describe("How your last turn or task ended"),
  has_ended: z.boolean().default(false).describe("You are done for good, and will not come back"),
  ttl_seconds: z
    .int()
    .min(STATUS.ttlLeastMs / 1000)
    .max(STATUS.ttlMostMs / 1000)
    .default(STATUS.ttlDefaultMs / 1000)
    .describe("For how long this is believed; publish again before"),
});

const RULE = "it says so";

/** The prefix of the agent's id in its alias. */
const ALIAS = "mcp:";

const publishStatus = tool({
  name: "publish_status",
  title: "Tell people what you are doing",
  description:
    "Publish your status: it is a row of the fleet that people watch. Call it when you begin, " +
    "when what you do changes, when you wait for a person (with question), and when you are done.",
  input: INPUT,
  output: z.object({ agent_id: z.string(), is_new: z.boolean() }),
  hints: SETS,
  access: TABLE.fleet.report.access,
  async run(given, caller) {
    const { engine, fleet } = caller;
    const { agentId, by } = await caller.acting(given.agent_id);
    caller.permit(by, TABLE.fleet.report.access, { agentId });
    const alias = `${ALIAS}${agentId}`;
    const before = await engine.read(({ reports }) => reports.byAlias.get(alias)?.report);
    const report = reportOf(given, { agentId, nowMs: engine.nowMs, before });
    const isNew = await fleet.report(report, by);
    const summary = isNew ? "People see it." : "It says the same as before.";
    return { summary, data: { agent_id: agentId, is_new: isNew } };
  },
});

interface About {
  readonly agentId: string;
  readonly nowMs: number;
  readonly before: Report | undefined;
}

function reportOf(given: z.output<typeof INPUT>, { agentId, nowMs, before }: About): Report {
  const { name, goal, workspace, message, task, outcome } = given;
  const last = before?.facts.outcome;
  const endedAtMs = last && last.value === outcome ? last.atMs : nowMs;
  const facts: Facts = {
    ...(name !== undefined && { name }),
    ...(goal !== undefined && { goal }),
    ...(workspace !== undefined && { workspace }),
    liveness: given.has_ended
      ? { value: "exited", rule: "it said that it is done" }
      : { value: "alive", rule: RULE },
    activity: {
      value: given.activity,
      rule: RULE,
      ...(message !== undefined && { message }),
      ...(task !== undefined && { task }),
    },
    ...(given.question && {
      question: { rule: RULE, value: askedOf(given.question, nowMs, before) },
    }),
    ...(outcome && { outcome: { value: outcome, rule: RULE, atMs: endedAtMs } }),
    lastActivityAtMs: nowMs,
  };
  const alias = `${ALIAS}${agentId}`;
  // A model that stops does not say good-bye.
  const ttlMs = given.ttl_seconds * 1000;
  return { alias, agentId, links: [], order: nowMs, reportedAtMs: nowMs, ttlMs, facts };
}

/** The same question asked again has waited since it was first asked. */
function askedOf(
  { kind, text, options }: NonNullable<z.output<typeof INPUT>["question"]>,
  nowMs: number,
  before: Report | undefined,
) {
  const last = before?.facts.question?.value ?? before?.dismissed;
  const sinceMs = last?.kind === kind && last.text === text ? last.sinceMs : nowMs;
  return { kind, text, ...(options && { options }), sinceMs };
}

export const STATUS_TOOLS: readonly Tool[] = [publishStatus];
