/** The commands of `rollcall tasks` that a worker needs: claim, renew, complete, fail. */
import { buildCommand } from "@stricli/core";
import { shortDuration } from "../../core/words.ts";
import type { TaskDetail } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { actingAgent, daemonOf, lookOf, note, printJson, taskId } from "../daemon.ts";
import { durationFlag } from "../durations.ts";
import { EXIT } from "../exit.ts";
import { actingFlags, argument, textFlag, tokenFlag } from "../flags.ts";
import type { ActingFlags } from "../flags.ts";
import { about } from "../help.ts";
import { contentFlags, contentOf, type ContentFlags } from "../task-content.ts";
import { taskFacts } from "../task-facts.ts";
import { factLines } from "../terminal/table.ts";

const TASK = argument("TASK", "The task's id, or enough of its beginning");

interface ClaimFlags extends ActingFlags {
  readonly wait?: number;
}

export const tasksClaim = buildCommand<ClaimFlags, [], Context>({
  docs: {
    brief: "Claim the task that has waited longest",
    fullDescription: about(
      "Claim the task that has waited longest of those the agent has the tools for. Without one " +
        "it ends with 1, at once or after --wait. Interrupted, it has claimed nothing.",
      { call: "rollcall tasks claim --agent 3f2a9c1b", does: "what is there" },
      { call: "rollcall tasks claim --agent 3f2a9c1b --wait 5m --json", does: "or comes" },
    ),
  },
  parameters: { flags: { wait: durationFlag("Wait for one to come [0]"), ...actingFlags } },
  async func({ wait: waitMs = 0, ...flags }) {
    const signal = this.untilInterrupted();
    await using daemon = daemonOf(this, flags);
    const agentId = await actingAgent(daemon, this, flags.agent);
    if (waitMs > 0) await note(this, `waiting for a task, ${shortDuration(waitMs)} at most`);
    const answer = await daemon
      .post("/v1/tasks/claim", { agentId, waitMs }, { waitMs, signal })
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
        return { task: null };
      });
    const task = answer["task"] as TaskDetail | null;
    if (!task) this.endWith(EXIT.nothingFound);
    if (flags.json === true) return await printJson(this, answer);
    if (!task) return await note(this, `no task for this agent${waited(waitMs)}`);
    const facts = taskFacts(task, { nowMs: Date.now(), style: "blue" });
    for (const line of factLines(facts, lookOf(this))) await this.out.line(line);
  },
});

function waited(waitMs: number): string {
  return waitMs === 0 ? "" : ` within ${shortDuration(waitMs)}`;
}

interface HeldFlags extends ActingFlags {
  readonly token?: number;
}

const heldFlags = {
  token: { ...tokenFlag, optional: true, brief: "The claim's token: refused if it is not current" },
  ...actingFlags,
} as const;

const POSITIONAL = { kind: "tuple", parameters: [TASK] } as const;

interface Ending {
  readonly verb: "renew" | "complete" | "fail";
  readonly given: string;
  readonly fields?: Readonly<Record<string, string>>;
}

/** Tells the daemon what became of a claim. */
async function tell(context: Context, flags: HeldFlags, ending: Ending): Promise<void> {
  await using daemon = daemonOf(context, flags);
  const answer = await daemon.post(`/v1/tasks/${ending.verb}`, {
    taskId: await taskId(daemon, ending.given),
    agentId: await actingAgent(daemon, context, flags.agent),
    ...(flags.token !== undefined && { token: flags.token }),
    ...ending.fields,
  });
  if (flags.json === true) await printJson(context, answer);
}

export const tasksRenew = buildCommand<HeldFlags, [string], Context>({
  docs: {
    brief: "Say that a task is still worked on",
    fullDescription: about("Say that a task is still worked on: the claim lasts a full ttl more.", {
      call: "rollcall tasks renew 9b1d04ce --agent 3f2a9c1b",
      does: "well before the claim ends",
    }),
  },
  parameters: { flags: heldFlags, positional: POSITIONAL },
  async func(flags, given) {
    await tell(this, flags, { verb: "renew", given });
  },
});

interface CompleteFlags extends HeldFlags, ContentFlags<"output"> {}

export const tasksComplete = buildCommand<CompleteFlags, [string], Context>({
  docs: {
    brief: "Say that a task is done, and what came out",
    fullDescription: about(
      "Say that a task is done, and what came out.",
      { call: "rollcall tasks complete 9b1d04ce --output 'total: 42'", does: "text" },
      { call: "rollcall tasks complete 9b1d04ce --output-file result.pdf", does: "bytes" },
    ),
  },
  parameters: {
    flags: { ...contentFlags("output", "What came out"), ...heldFlags },
    positional: POSITIONAL,
  },
  async func(flags, given) {
    const fields = await contentOf("output", flags);
    await tell(this, flags, { verb: "complete", given, fields });
  },
});

interface FailFlags extends HeldFlags {
  readonly reason?: string;
}

export const tasksFail = buildCommand<FailFlags, [string], Context>({
  docs: {
    brief: "Give a task up: it is tried again, or dead",
    fullDescription: about(
      "Give a task up. It goes back to the queue while it has retries left, else it is dead.",
      { call: "rollcall tasks fail 9b1d04ce --reason 'page not found'", does: "and says why" },
    ),
  },
  parameters: {
    flags: { reason: textFlag("TEXT", "Why, for whoever looks at it later"), ...heldFlags },
    positional: POSITIONAL,
  },
  async func(flags, given) {
    await tell(this, flags, { verb: "fail", given, fields: { reason: flags.reason ?? "" } });
  },
});
