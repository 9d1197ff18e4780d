/** The question to a person in a `session/request_permission` or an `elicitation/create`. */
import { field } from "../../../core/text.ts";
import { idText, listIn, textIn } from "./frames.ts";
import { SHOWN } from "./limits.ts";
import type { AcpOption } from "./record.ts";
import type { PersonQuestion } from "./requests.ts";
import { shownText } from "./shown.ts";
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
      shownText(textIn(params, "title"), SHOWN.question) ??
      shownText(textIn(patch, "title"), SHOWN.question) ??
      shownText(textIn(subject, "command"), SHOWN.question) ??
      (tool === undefined ? "Permission needed" : toolMessage(tool)),
    toolCallId,
    options: listIn(params, "options").slice(0, SHOWN.options).flatMap(optionIn),
  };
}

export function elicitationIn(params: unknown): PersonQuestion {
  return {
    kind: "elicitation",
    text: shownText(textIn(params, "message"), SHOWN.question) ?? "Input needed",
    toolCallId: idText(params, "toolCallId"),
    options: [],
  };
}

/** Whether the person said no, or took the question away: then the tool does not run. */
export function isRefused(ask: PersonQuestion, result: unknown): boolean {
  if (ask.kind === "elicitation") return false;
  const outcome = field(result, "outcome");
  if (textIn(outcome, "outcome") !== "selected") return true;
  const chosen = ask.options.find(({ id }) => id === textIn(outcome, "optionId"));
  return chosen?.kind.startsWith("reject") ?? false;
}

function optionIn(option: unknown): readonly AcpOption[] {
  const id = idText(option, "optionId");
  if (id === undefined) return [];
  const name = shownText(textIn(option, "name"), SHOWN.name) ?? "";
  return [{ id, name, kind: shownText(textIn(option, "kind"), SHOWN.name) ?? "" }];
}
