/**
 * An editor that runs an agent through our proxy, as Zed or JetBrains would. The agent has a hook
 * and a registration, too: three ways to show up, and one agent.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../../scripts/root.mjs";
import { Actor } from "../actor.ts";
import { ROLLCALL } from "../daemon.ts";
import type { Place } from "../place.ts";
import { sidecarGone } from "./claude.ts";

const AGENT = join(root, "test/tour/actors/pair.mjs");
const SESSION = "pair-1";
const PAIR = "pair-programmer";

export class Editor implements AsyncDisposable {
  readonly actor: Actor;
  readonly #place: Place;

  private constructor(place: Place, keeperAddress: string) {
    this.#place = place;
    const agent = [process.execPath, AGENT, ...ROLLCALL, "hook", "claude-code"];
    const env = { ...place.env, KEEPER_ADDRESS: keeperAddress, ROLLCALL_AGENT_ID: PAIR };
    this.actor = new Actor([...ROLLCALL, "acp", "--", ...agent], { env, cwd: place.shop });
  }

  /** Up to the agent's question whether it may write a file. */
  static async asking(place: Place, keeperAddress: string): Promise<Editor> {
    const editor = new Editor(place, keeperAddress);
    place.hold(editor);
    editor.#say({ id: 0, method: "initialize", params: { protocolVersion: 1 } });
    await editor.actor.says(/"id":0\b/);
    editor.#say({ id: 1, method: "session/new", params: { cwd: place.shop, mcpServers: [] } });
    await editor.actor.says(/"id":1\b/);
    const prompt = [{ type: "text", text: "Rename Cart to Basket" }];
    editor.#say({ id: 2, method: "session/prompt", params: { sessionId: SESSION, prompt } });
    await editor.actor.says(/session\/request_permission/);
    return editor;
  }

  /** The person says yes, in the editor, and the agent goes on. */
  async allow(): Promise<void> {
    this.#say({ id: 0, result: { outcome: { outcome: "selected", optionId: "yes" } } });
    await this.actor.says(/Run the tests/);
  }

  /** The tests that it runs pass, and its turn ends. */
  async finish(): Promise<void> {
    writeFileSync(join(this.#place.shop, "test-report.txt"), "42 passed\n");
    await this.actor.says(/end_turn/);
  }

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

  #say(frame: object): void {
    this.actor.tell(JSON.stringify({ jsonrpc: "2.0", ...frame }));
  }
}
