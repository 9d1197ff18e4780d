/** Gemini's: `…/models/NAME:streamGenerateContent`. */
import { field } from "../../../src/core/text.ts";
import { listOf, proseOf, toolOf } from "./read.ts";
import type { Chunk, ModelWire } from "./server.ts";

const USAGE = { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 };

export const gemini: ModelWire = {
  turnOf(body) {
    const declared = listOf(field(body, "tools")).flatMap((tool) =>
      listOf(field(tool, "functionDeclarations")),
    );
    const messages = listOf(field(body, "contents")).filter((m) => field(m, "role") === "user");
    const asked = messages.findLastIndex((message) => !isResult(message));
    return {
      prompt: proseOf(field(messages[asked], "parts")),
      tools: declared.map((tool) =>
        toolOf(
          field(tool, "name"),
          field(tool, "parametersJsonSchema") ?? field(tool, "parameters"),
        ),
      ),
      results: messages.slice(asked + 1).filter(isResult).length,
    };
  },

  *stream(answer) {
    if (answer.kind === "calls") {
      const parts = answer.calls.map(({ name, input }) => ({
        functionCall: { name, args: input },
      }));
      yield said(parts, "STOP");
      return;
    }
    for (const text of answer.words) {
      yield said([{ text }]);
      yield answer.pauseMs;
    }
    yield said([{ text: "" }], "STOP");
  },
};

function isResult(message: unknown): boolean {
  return listOf(field(message, "parts")).some((part) => field(part, "functionResponse"));
}

function said(parts: readonly object[], finishReason?: string): Chunk {
  const content = { role: "model", parts };
  const candidate = { index: 0, content, ...(finishReason !== undefined && { finishReason }) };
  return { data: { candidates: [candidate], usageMetadata: USAGE, modelVersion: "mock" } };
}
