/**
 * The plugin for OpenCode: every session of a person is shown, with what it does and what it asks.
 * OpenCode calls every function that this module exports: there is one.
 */
import { field, wordOf } from "../../core/text.ts";
import { complain } from "../hooks/complaints.ts";
import { TEXT } from "../hooks/limits.ts";
import { OpenCodeSessions, type OpenCodeEvent } from "./sessions.ts";

export interface OpenCodeInput {
  /** Where OpenCode works. */
  readonly directory: string;
}

interface OpenCodeTool {
  readonly sessionID: string;
  readonly callID: string;
}

export interface OpenCodeHooks {
  readonly event: (input: { readonly event: OpenCodeEvent }) => Promise<void>;
  readonly "chat.message": (
    input: { readonly sessionID: string; readonly model?: unknown },
    output: { readonly parts: readonly unknown[] },
  ) => Promise<void>;
  readonly "tool.execute.before": (input: OpenCodeTool) => Promise<void>;
  readonly "tool.execute.after": (input: OpenCodeTool) => Promise<void>;
}

export function RollcallPlugin({ directory }: OpenCodeInput): Promise<OpenCodeHooks> {
  const sessions = new OpenCodeSessions(directory);
  const guarded = async (act: () => Promise<void> | void) => {
    try {
      await act();
    } catch (error) {
      complain(error);
    }
  };
  return Promise.resolve({
    event: ({ event }) => guarded(() => sessions.hear(event)),
    "chat.message": ({ sessionID, model }, { parts }) =>
      guarded(() => sessions.prompted(sessionID, textOf(parts), nameOf(model))),
    "tool.execute.before": ({ sessionID }) => guarded(() => sessions.works(sessionID)),
    "tool.execute.after": ({ sessionID, callID }) =>
      guarded(() => sessions.ranTool(sessionID, callID)),
  });
}

function textOf(parts: readonly unknown[]): string {
  const texts = parts.filter((part) => field(part, "type") === "text" && !field(part, "synthetic"));
  return texts.map((part) => wordOf(field(part, "text"), TEXT.summaryLength) ?? "").join(" ");
}

function nameOf(model: unknown): string | undefined {
  const provider = wordOf(field(model, "providerID"), TEXT.optionLength);
  const name = wordOf(field(model, "modelID"), TEXT.optionLength);
  return name === undefined ? undefined : [provider, name].filter(Boolean).join("/");
}
