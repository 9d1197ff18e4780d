/**
 * What a hook costs the coding agent that waits for it, against node that does nothing. A session
 * that has its sidecar is what nearly every hook finds; the first one has to start it.
 */
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { conclude, inTemporaryFolder, inTurns, rate, report } from "./measure.ts";

const ROUNDS = 40;

// A machine-wide certificate bundle costs Node 20 most of its start; it is not ours to measure.
const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;

await inTemporaryFolder(async (folder) => {
  const env = { ...inherited, HOME: folder, XDG_STATE_HOME: folder, AGENT_STATUS_DIR: "" };
  const node = (args: readonly string[], input = "") => {
    const { status } = spawnSync(process.execPath, args, { env, input });
    if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}`);
  };
  const hook = (session: string, event: string) => {
    const more = { cwd: folder, tool_name: "Bash", tool_input: { command: "npm test" } };
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
  // Sidecars leave when what they look after is gone, and may still write until they notice.
  rmSync(join(folder, "rollcall"), { recursive: true, force: true, maxRetries: 10 });
});
conclude();
