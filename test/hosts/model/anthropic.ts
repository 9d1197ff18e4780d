/** Anthropic's Messages. */
import { field } from "../../../src/core/text.ts";
import { freshId, listOf, proseOf, toolOf } from "./read.ts";
import type { Chunk, ModelWire } from "./server.ts";

const USAGE = { input_tokens: 10, output_tokens: 5 };

export const anthropic: ModelWire = {
  turnOf(body) {
    const tools = listOf(field(body, "tools"));
    const messages = listOf(field(body, "messages")).filter((m) => field(m, "role") === "user");
    const prompts = messages.filter(
      (message) => /\[\[/.test(spoken(message)) || !isResult(message),
    );
    const prompt = prompts.at(-1);
    return {
      prompt: prompt === undefined ? "" : spoken(prompt),
      tools: tools.map((tool) => toolOf(field(tool, "name"), field(tool, "input_schema"))),
      results: messages.slice(messages.indexOf(prompt) + 1).filter(isResult).length,
    };
  },

  *stream(answer, model) {
    const message = { id: freshId("msg"), type: "message", role: "assistant", model, content: [] };
    const start = { ...message, stop_reason: null, stop_sequence: null, usage: USAGE };
    yield named({ type: "message_start", message: start });
    if (answer.kind === "text") {
      const deltas = answer.words.map((text) => ({ type: "text_delta", text }));
      const content_block = { type: "text", text: "" };
      yield* pieces({ index: 0, content_block, deltas, pauseMs: answer.pauseMs });
    } else {
      for (const [index, { name, input }] of answer.calls.entries()) {
        const content_block = { type: "tool_use", id: freshId("toolu"), name, input: {} };
        const deltas = [{ type: "input_json_delta", partial_json: JSON.stringify(input) }];
        yield* pieces({ index, content_block, deltas, pauseMs: 0 });
      }
    }
    const stop_reason = answer.kind === "calls" ? "tool_use" : "end_turn";
    yield named({
      type: "message_delta",
      delta: { stop_reason, stop_sequence: null },
      usage: USAGE,
    });
    yield named({ type: "message_stop" });
  },
};

function isResult(message: unknown): boolean {
  return listOf(field(message, "content")).some((part) => field(part, "type") === "tool_result");
}

function spoken(message: unknown): string {
  return proseOf(field(message, "content"));
}

/** A part of the message, in pieces. */
interface Block {
  readonly index: number;
  readonly content_block: object;
  readonly deltas: readonly object[];
  readonly pauseMs: number;
}

function* pieces({ index, content_block, deltas, pauseMs }: Block): Iterable<Chunk> {
  yield named({ type: "content_block_start", index, content_block });
  for (const delta of deltas) {
    yield named({ type: "content_block_delta", index, delta });
    yield pauseMs;
  }
  yield named({ type: "content_block_stop", index });
}

function named(data: { readonly type: string; readonly [more: string]: unknown }): Chunk {
  return { event: data.type, data };
}
