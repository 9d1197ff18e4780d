/**
 * What a hook costs the coding agent that waits for it, against node that does nothing. A session
 * that has its sidecar is what nearly every hook finds; the first one has to start it. And what
 * it costs to watch many sessions while nothing happens: their sidecars, and what the daemon needs
 * more than without them.
 */
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
// tidy-allow sleep: idle time is what is measured
import { setTimeout as sleep } from "node:timers/promises";
import { readBadge } from "../src/coding-agents/hooks/attendance.ts";
import type { HookHost } from "../src/coding-agents/hooks/fact.ts";
import { field } from "../src/core/text.ts";
import { agentIdOf, sessionFolder } from "../src/machine/places.ts";
import { findProcess } from "../src/machine/processes.ts";
import { FakeAppServer } from "../test/support/coding-agents/app-server.ts";
import { Daemon } from "./shared/daemon.ts";
import { conclude, inTemporaryFolder, inTurns, isQuick, rate, report } from "./measure.ts";

const ROUNDS = 40;
const SESSIONS = 50;
/** Two heartbeats of each. */
const IDLE_MS = 60_000;
const SETTLE_MS = 15_000;
/** Longer than a sidecar takes to start. */
const LEAVE_MS = 1_000;
const CORE = "% of a core";

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
  if (!isQuick && process.platform === "linux") await idle(folder, env);
  // Sidecars that were just started find their session ended; without its folder they complain.
  await sleep(LEAVE_MS);
  rmSync(join(folder, "rollcall"), { recursive: true, force: true, maxRetries: 10 });
});
conclude();

/**
 * Sessions as they are on a machine: each of a host of its own that keeps its state in a file, some
 * of Codex's app-server, and a daemon that shows them all.
 */
async function idle(folder: string, env: Readonly<Record<string, string | undefined>>) {
  const claude = join(folder, ".claude/sessions");
  mkdirSync(claude, { recursive: true });
  await using server = await FakeAppServer.start(join(folder, ".codex"));
  const ofCodex = Array.from({ length: SESSIONS / 5 }, (_each, i) => `codex-${i}`);
  server.answers.set("thread/loaded/list", () => ({ data: ofCodex }));
  server.answers.set("thread/read", (params) => {
    return { thread: { id: field(params, "threadId"), status: { type: "idle" } } };
  });
  server.answers.set("mcpServerStatus/list", () => ({ data: [] }));
  const daemon = await Daemon.start(join(folder, "daemon"), { env });
  await sleep(SETTLE_MS);
  const alone = await share([daemon.pid]);
  const ofClaude = Array.from({ length: SESSIONS - ofCodex.length }, (_each, i) => `claude-${i}`);
  const hosts = [
    ...ofClaude.map((id) => host("claude-code", id, { folder, env })),
    ...ofCodex.map((id) => host("codex", id, { folder, env })),
  ];
  for (const { pid, session } of hosts) {
    const procStart = findProcess(pid)?.start;
    const state = { sessionId: session, procStart, status: "idle", statusUpdatedAt: Date.now() };
    writeFileSync(join(claude, `${pid}.json`), JSON.stringify(state));
  }
  await sleep(SETTLE_MS);
  const sidecars = hosts.map(({ name, session }) => {
    const pid = readBadge(sessionFolder(agentIdOf(name, session), env))?.pid;
    if (pid === undefined) throw new Error(`session ${session} has no sidecar`);
    return pid;
  });
  const [beside, shown] = await Promise.all([share(sidecars), share([daemon.pid])]);
  report({ name: `the sidecars of ${SESSIONS} sessions, idle`, value: beside, unit: CORE });
  report({ name: "the daemon that shows them", value: shown - alone, unit: CORE });
  const name = `watching ${SESSIONS} sessions, idle`;
  const value = beside + shown - alone;
  report({ name, value, unit: CORE, target: { atMost: 0.5 } });
  for (const { child } of hosts) child.kill();
  await daemon.close();
}

interface Place {
  readonly folder: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A process that runs one hook and then does nothing; awk, because shells are never hosts. */
function host(name: HookHost, session: string, { folder, env }: Place) {
  const payload = { hook_event_name: "SessionStart", session_id: session, cwd: folder };
  const file = join(folder, `${session}.json`);
  writeFileSync(file, JSON.stringify(payload));
  const hook = `${process.execPath} dist/bin/rollcall.cjs hook ${name} <${file}`;
  const script = `BEGIN { system("${hook}"); system("exec sleep 600") }`;
  const child = spawn("awk", [script], { env, stdio: "ignore" });
  return { name, session, child, pid: child.pid ?? 0 };
}

/** Of one core, while nothing happens. */
async function share(pids: readonly number[]): Promise<number> {
  const before = spentMs(pids);
  await sleep(IDLE_MS);
  return ((spentMs(pids) - before) / IDLE_MS) * 100;
}

/** What all threads of these processes have computed so far. */
function spentMs(pids: readonly number[]): number {
  const threads = pids.flatMap((pid) =>
    readdirSync(`/proc/${pid}/task`).map((thread) => `/proc/${pid}/task/${thread}/schedstat`),
  );
  const nanoseconds = threads.map((path) => Number(readFileSync(path, "utf8").split(" ")[0]));
  return nanoseconds.reduce((sum, each) => sum + each, 0) / 1e6;
}
