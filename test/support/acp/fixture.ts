/**
 * A conversation to play in tests: who says what and when, in a few words, and what is derived.
 *
 *   const play = new Play().open();
 *   play.prompt().tool("t1", { kind: "read", title: "Read a.rs" });
 *   play.is                                                        // "reading: Read a.rs"
 */
import { AcpDeriver, type AcpDeriverOptions } from "../../../src/wires/acp/derive/deriver.ts";
import { readFrame, type FrameSender } from "../../../src/wires/acp/derive/frames.ts";
import type { AcpRecord } from "../../../src/wires/acp/derive/record.ts";

const SESSION = "S";
const PROMPT = 100;

export class Play {
  readonly deriver: AcpDeriver;
  /** Every record that came out, in order. */
  readonly said: AcpRecord[] = [];
  nowMs = Date.UTC(2026, 10, 15, 20);

  constructor(options: AcpDeriverOptions = {}) {
    this.deriver = new AcpDeriver(options);
  }

  /** Initialised with this version of the protocol, with one session. */
  open(protocolVersion = 1): this {
    this.client({ id: 0, method: "initialize", params: { protocolVersion } });
    this.agent({ id: 0, result: { protocolVersion } });
    this.client({ id: 1, method: "session/new", params: { cwd: "/srv/app", mcpServers: [] } });
    return this.agent({ id: 1, result: { sessionId: SESSION } }).later(10);
  }

  client(message: object): this {
    return this.frame("client", message);
  }

  agent(message: object): this {
    return this.frame("agent", message);
  }

  frame(sender: FrameSender, message: object): this {
    const frame = readFrame(JSON.parse(JSON.stringify({ jsonrpc: "2.0", ...message })));
    if (frame !== undefined) this.said.push(...this.deriver.observe(sender, frame, this.nowMs));
    return this;
  }

  update(update: object, sessionId: string = SESSION): this {
    return this.agent({ method: "session/update", params: { sessionId, update } });
  }

  prompt(id: number | string = PROMPT, prompt: unknown = [{ type: "text", text: "Hello" }]): this {
    return this.client({ id, method: "session/prompt", params: { sessionId: SESSION, prompt } });
  }

  /** The answer to the prompt: the end of the turn in v1. */
  end(stopReason = "end_turn", id: number | string = PROMPT): this {
    return this.agent({ id, result: { stopReason } });
  }

  tool(toolCallId: string, patch: object = {}): this {
    return this.update({ sessionUpdate: "tool_call_update", toolCallId, ...patch });
  }

  chunk(text: string): this {
    const content = { type: "text", text };
    return this.update({ sessionUpdate: "agent_message_chunk", content });
  }

  thought(text = "hm"): this {
    return this.update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text } });
  }

  state(state: string, fields: object = {}): this {
    return this.update({ sessionUpdate: "state_update", state, ...fields });
  }

  plan(...statuses: readonly string[]): this {
    const entries = statuses.map((status, index) => ({ content: `do ${index + 1}`, status }));
    return this.update({ sessionUpdate: "plan", entries });
  }

  ask(id: number | string, toolCall: object = {}): this {
    const options = [
      { optionId: "yes", name: "Allow", kind: "allow_once" },
      { optionId: "no", name: "Reject", kind: "reject_once" },
    ];
    const params = { sessionId: SESSION, toolCall, options };
    return this.agent({ id, method: "session/request_permission", params });
  }

  answer(id: number | string, optionId: string): this {
    return this.client({ id, result: { outcome: { outcome: "selected", optionId } } });
  }

  cancel(): this {
    return this.client({ method: "session/cancel", params: { sessionId: SESSION } });
  }

  /** Time passes, and with it every deadline on the way. */
  later(ms: number): this {
    const untilMs = this.nowMs + ms;
    for (;;) {
      const nextMs = this.deriver.nextDeadlineMs;
      if (nextMs === undefined || nextMs > untilMs) break;
      this.nowMs = nextMs;
      this.said.push(...this.deriver.tick(nextMs));
    }
    this.nowMs = untilMs;
    return this;
  }

  record(sessionId: string = SESSION): AcpRecord {
    const record = this.deriver.records().find((each) => each.sessionId === sessionId);
    if (record === undefined) throw new Error(`no session ${sessionId}`);
    return record;
  }

  /** The session's status in a few words. */
  get is(): string {
    return inWords(this.record());
  }
}

export function inWords({ status, message }: AcpRecord): string {
  return message === null ? status : `${status}: ${message}`;
}
