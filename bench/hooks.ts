/**
 * What a hook costs the coding agent that waits for it, against node that does nothing. A session
 * that has its sidecar is what nearly every hook finds; the first one has to start it. And what
 * the sidecars of many sessions cost while nothing happens.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
// tidy-allow sleep: idle time is what is measured
import { setTimeout as sleep } from "node:timers/promises";
import { readBadge } from "../src/coding-agents/hooks/attendance.ts";
import { agentIdOf, sessionFolder } from "../src/machine/places.ts";
import { conclude, inTemporaryFolder, inTurns, isQuick, rate, report } from "./measure.ts";

const ROUNDS = 40;
const SESSIONS = 50;
/** Two heartbeats of each. */
const IDLE_MS = 40_000;
const SETTLE_MS = 15_000;

// A machine-wide certificate bundle costs Node 20 most of its start; it is not ours to measure.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;

await inTemporaryFolder(async (folder) => {
  const env = { ...inherited, HOME: folder, XDG_STATE_HOME: folder, AGENT_STATUS_DIR: "" };
  const node = (args: readonly string[], input = "") => {
    const { status } = spawnSync(process.execPath, args, { env, input });
    if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  };
  const conversation = join(folder, "conversation.jsonl");
  writeFileSync(conversation, "");
  const hook = (session: string, event: string) => {
    const more = {
      cwd: folder,
      transcript_path: conversation,
      tool_name: "Bash",
      tool_input: { command: "npm test" },
    };
    const payload = { hook_event_name: event, session_id: session, ...more };
    node(["dist/bin/rollcall.cjs", "hook", "claude-code"], JSON.stringify(payload));
  };
  hook("bench", "SessionStart");
  let count = 0;
  const first = () => hook(`first-${(count += 1)}`, "SessionStart");
  const last = () => {
    hook(`first-${count}`, "SessionEnd");
    return Promise.resolve(1);
  };
  const [bare = 0, each = 0, question = 0, start = 0] = await inTurns(
    ROUNDS,
    () => rate(1, () => node(["-e", "0"])),
    () => rate(1, () => hook("bench", "PreToolUse")),
    () => rate(1, () => hook("bench", "PermissionRequest")),
    () => rate(1, first),
    last,
  );
  report({ name: "bare node", value: 1000 / bare, unit: "ms" });
  report({ name: "hook PreToolUse", value: bare / each, unit: "×", target: { atMost: 1.5 } });
  const asked = bare / question;
  report({ name: "hook PermissionRequest", value: asked, unit: "×", target: { atMost: 1.5 } });
  const name = "the first hook, which starts the sidecar";
  report({ name, value: bare / start, unit: "×", target: { atMost: 1.5 } });
  hook("bench", "SessionEnd");
  if (!isQuick && process.platform === "linux") await idle(hook, env);
  // Sidecars leave when what they look after is gone, and may still write until they notice.
  rmSync(join(folder, "rollcall"), { recursive: true, force: true, maxRetries: 10 });
});
conclude();

async function idle(
  hook: (session: string, event: string) => void,
  env: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  const sessions = Array.from({ length: SESSIONS }).map((_each, i) => `idle-${i}`);
  for (const session of sessions) hook(session, "SessionStart");
  await sleep(SETTLE_MS);
  const pids = sessions.map((session) => {
    const pid = readBadge(sessionFolder(agentIdOf("claude-code", session), env))?.pid;
    if (pid === undefined) throw new Error(`session ${session} has no sidecar`);
    return pid;
  });
  const before = spentMs(pids);
  await sleep(IDLE_MS);
  const share = ((spentMs(pids) - before) / IDLE_MS) * 100;
  const name = `the sidecars of ${SESSIONS} sessions, idle`;
  report({ name, value: share, unit: "% of a core", target: { atMost: 0.5 } });
  for (const session of sessions) hook(session, "SessionEnd");
}

/** What all threads of these processes have computed so far. */
function spentMs(pids: readonly number[]): number {
  const threads = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`),
  );
  const nanoseconds = threads.map((path) => Number(readFileSync(path, "utf8").split(" ")[0]));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}
