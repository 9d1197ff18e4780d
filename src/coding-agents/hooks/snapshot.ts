/** A session as its status file says it. */
import { SCHEMA_VERSION, type Status } from "../../wires/files/format.ts";
import { writeMeta } from "../../wires/files/meta.ts";
import { writeTimestamp } from "../../wires/files/timestamp.ts";
import type { HookHost } from "./fact.ts";
import { agentIdOf } from "../../machine/places.ts";
import type { HookSession } from "./session.ts";

/** Where a host's own words go in x_meta. */
const META: Readonly<Record<HookHost, string>> = {
  "claude-code": "claude_code",
  codex: "codex",
  copilot: "copilot",
  gemini: "gemini",
  "qwen-code": "qwen_code",
};

export function snapshotOf(session: HookSession, nowMs: number): Status {
  const { goal, task, activityMs, workspace } = session;
  const process = session.seat?.process ?? session.process;
  return {
    schema_version: SCHEMA_VERSION,
    agent_id: agentIdOf(session.host, session.sessionId),
    agent_name: session.host,
    runtime: {
      lifecycle: "running",
      updated_at: writeTimestamp(nowMs),
      last_activity_at: writeTimestamp(Math.min(activityMs, nowMs)),
      ...(process && { pid: process.pid }),
      ...(workspace !== undefined && { workspace }),
    },
    ...(goal && {
      goal: {
        summary: goal.summary,
        updated_at: writeTimestamp(goal.atMs),
        source: "initial-prompt",
      },
    }),
    ...(task && {
      task: {
        state: task.state,
        status_timestamp: writeTimestamp(task.sinceMs),
        ...(task.summary !== undefined && { summary: task.summary }),
      },
    }),
    x_meta: metaOf(session),
  };
}

function metaOf(session: HookSession): Record<string, unknown> {
  const { host, sessionId, model, permissionMode, question } = session;
  const { process, tmux } = session.seat ?? session;
  const coding = { session_id: sessionId, model, permission_mode: permissionMode };
  const own = { agentId: session.rollcallAgentId, process, question, tmux };
  return writeMeta(own, { [META[host]]: coding });
}
