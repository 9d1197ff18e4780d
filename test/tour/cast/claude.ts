/** Claude Code in a terminal: a process that runs our hook at each of its steps. */
import { join } from "node:path";
import { root } from "../../../scripts/root.mjs";
import { readBadge } from "../../../src/coding-agents/hooks/attendance.ts";
import { Actor } from "../actor.ts";
import { ROLLCALL } from "../daemon.ts";
import type { Place } from "../place.ts";
import { until } from "../until.ts";

const HOST = join(root, "test/e2e/fake-host.mjs");
const SESSION = "checkout";

export class Claude implements AsyncDisposable {
  readonly actor: Actor;
  readonly #place: Place;
  #fired = 0;

  private constructor(place: Place) {
    this.#place = place;
    const command = [process.execPath, HOST, ...ROLLCALL, "hook", "claude-code"];
    this.actor = new Actor(command, { env: place.env, cwd: place.shop });
  }

  /** Up to its question whether it may run a command. */
  static async asking(place: Place): Promise<Claude> {
    const claude = new Claude(place);
    place.hold(claude);
    await claude.fire("SessionStart", { source: "startup", model: "opus" });
    await claude.fire("UserPromptSubmit", { prompt: "Make the checkout fast" });
    const tool = { tool_name: "Bash", tool_input: { command: "npm run migrate" } };
    await claude.fire("PreToolUse", { ...tool, tool_use_id: "t1" });
    await claude.fire("PermissionRequest", tool);
    return claude;
  }

  /** The person said yes, and the turn went on to its end. */
  async finish(): Promise<void> {
    const tool = { tool_name: "Bash", tool_use_id: "t1", tool_response: { stdout: "done" } };
    await this.fire("PostToolUse", tool);
    await this.fire("Stop", { last_assistant_message: "The checkout is fast now." });
  }

  /** Runs one hook, and waits for its end. */
  async fire(name: string, more: Readonly<Record<string, unknown>> = {}): Promise<void> {
    const about = { hook_event_name: name, session_id: SESSION, cwd: this.#place.shop };
    this.actor.tell(JSON.stringify({ ...about, ...more }));
    this.#fired += 1;
    await until(`the end of the hook ${name}`, () => {
      const ended = this.actor.output.match(/"code":\d+/g) ?? [];
      if (ended.some((each) => each !== '"code":0')) throw new Error(this.actor.output);
      return ended.length === this.#fired || undefined;
    });
  }

  /** Its sidecar leaves with it. */
  async close(): Promise<void> {
    await this.actor.close();
    await sidecarGone(this.#place, SESSION);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  endNow(): void {
    this.actor.endNow();
  }
}

/** Whoever watches over a session finds by itself that its host is gone. */
export async function sidecarGone({ state }: Place, session: string): Promise<void> {
  const folder = join(state, "rollcall/hooks", `claude-code-${session}`);
  await until("the end of a sidecar", () => readBadge(folder) === undefined || undefined);
}
