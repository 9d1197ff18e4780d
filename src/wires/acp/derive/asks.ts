/** The question to a person in a `session/request_permission` or an `elicitation/create`. */
import { field } from "../../../core/text.ts";
import { idText, list, text } from "./frames.ts";
import { SHOWN } from "./limits.ts";
import type { AcpOption } from "./record.ts";
import type { PersonQuestion } from "./requests.ts";
import { shown } from "./shown.ts";
import { assumeTool, toolMessage, type Tools } from "./tools.ts";

export function permissionIn(params: unknown, tools: Tools, order: number): PersonQuestion {
  const subject = field(params, "subject");
  const patch = field(params, "toolCall") ?? field(subject, "toolCall");
  const toolCallId = idText(patch, "toolCallId") ?? idText(subject, "toolCallId");
  assumeTool(tools, patch, order);
  const tool = toolCallId === undefined ? undefined : tools.get(toolCallId);
  return {
    kind: "permission",
    text:
      shown(text(params, "title"), SHOWN.question) ??
      shown(text(patch, "title"), SHOWN.question) ??
      shown(text(subject, "command"), SHOWN.question) ??
      (tool === undefined ? "Permission needed" : toolMessage(tool)),
    toolCallId,
    options: list(params, "options").slice(0, SHOWN.options).flatMap(optionIn),
  };
}

export function elicitationIn(params: unknown): PersonQuestion {
  return {
    kind: "elicitation",
    text: shown(text(params, "message"), SHOWN.question) ?? "Input needed",
    toolCallId: idText(params, "toolCallId"),
    options: [],
  };
}

/** Whether the person said no, or took the question away: then the tool does not run. */
export function isRefused(ask: PersonQuestion, result: unknown): boolean {
  if (ask.kind === "elicitation") return false;
  const outcome = field(result, "outcome");
  if (text(outcome, "outcome") !== "selected") return true;
  const chosen = ask.options.find(({ id }) => id === text(outcome, "optionId"));
  return chosen?.kind.startsWith("reject") ?? false;
}

function optionIn(option: unknown): readonly AcpOption[] {
  const id = idText(option, "optionId");
  if (id === undefined) return [];
  const name = shown(text(option, "name"), SHOWN.name) ?? "";
  return [{ id, name, kind: shown(text(option, "kind"), SHOWN.name) ?? "" }];
}
