/**
 * `rollcall hook HOST`: what a coding agent runs at every step. It reads what happened on standard
 * input, and the session's status file follows.
 *
 * The host comes first. Whatever goes wrong here, it ends with 0, having printed what the host
 * wants to read and nothing else. The host also waits, so a hook only leaves a note for the
 * session's sidecar, which has the time to write; the first one starts it.
 */
import { writeSync } from "node:fs";
import { complain } from "./complaints.ts";
import {
  eventOf,
  factOf,
  HOOK_HOSTS,
  sessionIdOf,
  strangeNotification,
  type Circumstances,
  type HookEvent,
  type HookHost,
} from "./fact.ts";
import { deposit, factId } from "./deposit.ts";
import type { HookDialect } from "./dialect.ts";
import { DIALECTS } from "./dialects.ts";
import { agentIdOf, sessionFolder } from "../../machine/places.ts";
import type * as recording from "./record.ts";
import type { HookSession } from "./session.ts";
import { readStdin } from "./stdin.ts";
import { surprise } from "./surprises.ts";
import { versionOf } from "./version.ts";
import { field } from "../../core/text.ts";
import { attend, attendanceOf } from "./attendance.ts";
import { commandLineOf } from "../../machine/processes.ts";
import { hostProcess, rollcallAgentId, tmuxPane } from "../../machine/surroundings.ts";

export async function hook(host: string): Promise<void> {
  try {
    await run(host);
  } catch (error) {
    complain(error);
  }
}

async function run(name: string): Promise<void> {
  const text = readStdin();
  if (text === undefined) throw new Error("standard input was too long, or did not end in time");
  const host = HOOK_HOSTS.find((each) => each === name);
  const given = parse(text);
  const payload = (host && DIALECTS[host].translate?.(given)) ?? given;
  // A host that ends a turn wants an object in answer; whatever else it reads becomes a message.
  const event = eventOf(payload);
  if (event === "Stop") say("{}\n");
  if (host === undefined) throw new Error(`there are no hooks for ${JSON.stringify(name)}`);
  if (event === undefined)
    return surprised(host, `the event ${String(field(payload, "hook_event_name"))}`);
  const kind = strangeNotification(payload);
  if (kind !== undefined) return surprised(host, `the notification ${kind}`);
  const fact = factOf(payload, circumstances(event, DIALECTS[host]), DIALECTS[host]);
  if (!fact) return;
  const sessionId = sessionIdOf(payload);
  if (sessionId === undefined) return surprised(host, `${fact.event} without a session_id`);
  const folder = sessionFolder(agentIdOf(host, sessionId));
  deposit(folder, fact);
  const attendance = attendanceOf(folder);
  if (attendance === "present") return;
  // One that is lost may not be able to live here at all, so nobody waits for the next.
  if (attendance === "lost" && (await settle(host, sessionId)).isOver) return;
  attend({ folder, host, sessionId });
}

function surprised(host: HookHost, what: string): void {
  const program = hostProcess();
  surprise(host, what, program && versionOf(program.pid));
}

/** The sidecar's work, from its file: most hooks never open it. */
async function settle(host: HookHost, sessionId: string): Promise<HookSession> {
  const { createRequire } = process.getBuiltinModule("node:module");
  const { recordOf } = createRequire(import.meta.url)("./sidecar.cjs") as typeof recording;
  return recordOf({ host, sessionId }).spool.settle();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`standard input is not JSON (${text.length} characters)`);
  }
}

function say(text: string): void {
  try {
    writeSync(1, text);
  } catch {
    // The host closed the pipe.
  }
}

/** Where asking for the process takes long, it is asked for when it can be another one. */
const CHANGES_PROCESS = new Set<HookEvent>(["SessionStart", "UserPromptSubmit"]);

function circumstances(event: HookEvent, dialect: HookDialect): Circumstances {
  const sinceStartMs = process.uptime() * 1000;
  const order = Math.round(Number(process.hrtime.bigint() / 1000n) - sinceStartMs * 1000);
  const isAsked = process.platform === "linux" || CHANGES_PROCESS.has(event);
  const host = isAsked ? hostProcess() : undefined;
  const isShared = host && dialect.isShared?.(commandLineOf(host.pid));
  // Of a shared one it is the pane of whoever started it.
  const tmux = isShared ? undefined : tmuxPane(process.env);
  const agentId = rollcallAgentId(process.env);
  return {
    id: factId(order),
    order,
    atMs: Math.round(Date.now() - sinceStartMs),
    ...(host && { process: host }),
    ...(isShared && { isShared }),
    ...(tmux && { tmux }),
    ...(agentId !== undefined && { rollcallAgentId: agentId }),
  };
}
