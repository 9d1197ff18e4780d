/** OpenAI's chat completions. */
import { field } from "../../../src/core/text.ts";
import { freshId, listOf, proseOf, toolOf } from "./read.ts";
import type { Chunk, ModelWire } from "./server.ts";

export const chat: ModelWire = {
  turnOf(body) {
    const tools = listOf(field(body, "tools")).map((tool) => field(tool, "function"));
    const messages = listOf(field(body, "messages"));
    const asked = messages.findLastIndex((message) => field(message, "role") === "user");
    const later = messages.slice(asked + 1);
    return {
      prompt: proseOf(field(messages[asked], "content")),
      tools: tools.map((tool) => toolOf(field(tool, "name"), field(tool, "parameters"))),
      results: later.filter((message) => field(message, "role") === "tool").length,
    };
  },

  *stream(answer, model) {
    const head = { id: freshId("chatcmpl"), object: "chat.completion.chunk", created: 0, model };
    const chunk = (delta: object, finish_reason: string | null = null): Chunk => ({
      data: { ...head, choices: [{ index: 0, delta, finish_reason }] },
    });
    yield chunk({ role: "assistant", content: "" });
    if (answer.kind === "text") {
      for (const content of answer.words) {
        yield chunk({ content });
        yield answer.pauseMs;
      }
    } else {
      const tool_calls = answer.calls.map(({ name, input }, index) => {
        const call = { name, arguments: JSON.stringify(input) };
        return { index, id: freshId("call"), type: "function", function: call };
      });
      yield chunk({ tool_calls });
    }
    yield chunk({}, answer.kind === "calls" ? "tool_calls" : "stop");
    const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };
    yield { data: { ...head, choices: [], usage } };
    yield { data: "[DONE]" };
  },
};
