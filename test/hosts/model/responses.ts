/** OpenAI's Responses. */
import { field } from "../../../src/core/text.ts";
import { freshId, listOf, proseOf, stringOf, toolOf } from "./read.ts";
import type { Tool } from "./plan.ts";
import type { Chunk, ModelWire } from "./server.ts";

const USAGE = {
  input_tokens: 10,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 5,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 15,
};

/** What the program says for the person, in messages of its own. */
const ITS_OWN = /^\s*(?:<(?:environment_context|user_instructions|turn_aborted|hook)|# AGENTS\.md)/;

export const responses: ModelWire = {
  turnOf(body) {
    const items = listOf(field(body, "input"));
    const asked = items.findLastIndex((item) => {
      return field(item, "role") === "user" && !ITS_OWN.test(proseOf(field(item, "content")));
    });
    const later = items.slice(asked + 1).map((item) => stringOf(field(item, "type")));
    return {
      prompt: proseOf(field(items[asked], "content")),
      tools: listOf(field(body, "tools")).flatMap(toolsOf),
      results: later.filter((type) => type.endsWith("_call_output")).length,
    };
  },

  *stream(answer, model) {
    const id = freshId("resp");
    const head = { id, object: "response", model };
    yield named({ type: "response.created", response: { ...head, status: "in_progress" } });
    const output: object[] = [];
    if (answer.kind === "text") {
      const item = { id: freshId("msg"), type: "message", role: "assistant" };
      const text = answer.words.join("");
      yield added(0, { ...item, status: "in_progress", content: [] });
      for (const delta of answer.words) {
        const place = { item_id: item.id, output_index: 0, content_index: 0 };
        yield named({ type: "response.output_text.delta", ...place, delta });
        yield answer.pauseMs;
      }
      const content = [{ type: "output_text", text, annotations: [] }];
      output.push({ ...item, status: "completed", content });
    } else {
      for (const { input, ...tool } of answer.calls) {
        const call = { ...tool, call_id: freshId("call"), arguments: JSON.stringify(input) };
        output.push({ id: freshId("fc"), type: "function_call", status: "completed", ...call });
      }
    }
    for (const [output_index, item] of output.entries()) {
      if (answer.kind === "calls") yield added(output_index, item);
      yield named({ type: "response.output_item.done", output_index, item });
    }
    const response = { ...head, status: "completed", output, usage: USAGE };
    yield named({ type: "response.completed", response });
  },
};

/** One, or a group of them under a name. */
function toolsOf(tool: unknown): readonly Tool[] {
  if (field(tool, "type") !== "namespace") {
    return [toolOf(field(tool, "name"), field(tool, "parameters"))];
  }
  const namespace = stringOf(field(tool, "name"));
  return listOf(field(tool, "tools"))
    .flatMap(toolsOf)
    .map((each) => ({ ...each, namespace }));
}

function added(output_index: number, item: object): Chunk {
  return named({ type: "response.output_item.added", output_index, item });
}

function named(data: { readonly type: string; readonly [more: string]: unknown }): Chunk {
  return { event: data.type, data };
}
