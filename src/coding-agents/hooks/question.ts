/**
 * The question that an agent asks a person, from its host's event about a tool call. Never the
 * whole input: a command, a file's path, the host of a URL, or just the tool's name. A command is
 * told with all its lines: a person must not allow what is not to be seen.
 */
import { TEXT } from "./limits.ts";
import { field, firstLine, oneLine, wordOf } from "../../core/text.ts";

export interface HookQuestion {
  readonly kind: "permission" | "choice" | "text";
  readonly text: string;
  readonly options?: readonly string[];
  readonly tool?: string;
}

const ASKING = new Set([
  "AskUserQuestion",
  "ExitPlanMode",
  "ask_user",
  "ask_user_question",
  "request_user_input",
]);

/** Whether calling this tool is asking a person. */
export function isAsking(tool: string): boolean {
  return ASKING.has(tool) || tool.endsWith("__question");
}

/** The question of a tool call that asks the user, or that needs a permission. */
export function questionOf(tool: string, input: unknown): HookQuestion {
  if (tool === "ExitPlanMode") return planOf(input);
  return isAsking(tool) ? askedBy(tool, input) : permissionFor(tool, input);
}

function askedBy(tool: string, input: unknown): HookQuestion {
  const questions = field(input, "questions");
  const [first, ...others] = Array.isArray(questions) ? (questions as unknown[]) : [input];
  const asked =
    wordOf(field(first, "question"), TEXT.questionLength) ??
    wordOf(field(first, "text"), TEXT.questionLength) ??
    wordOf(field(first, "header"), TEXT.questionLength) ??
    "it asks something";
  const text = others.length === 0 ? asked : `${asked} (and ${others.length} more)`;
  const options = optionsOf(field(first, "options"));
  if (options.length === 0) return { kind: "text", text, tool };
  return { kind: "choice", text, options, tool };
}

function planOf(input: unknown): HookQuestion {
  const plan = field(input, "plan");
  const heading = typeof plan === "string" ? firstLine(plan).replace(/^[#\s*]+/u, "") : "";
  const name = oneLine(heading, TEXT.optionLength);
  const text = name === "" ? "Go on with the plan?" : `Go on with the plan "${name}"?`;
  return { kind: "choice", text, options: ["approve", "keep planning"], tool: "ExitPlanMode" };
}

/** Their labels: strings, or objects that have one. */
export function optionsOf(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value.slice(0, TEXT.options).flatMap((option: unknown) => {
    return wordOf(field(option, "label") ?? option, TEXT.optionLength) ?? [];
  });
}

function permissionFor(tool: string, input: unknown): HookQuestion {
  const subject = subjectOf(input);
  const text = subject === undefined ? `Use ${tool}?` : `${tool}: ${subject}`;
  return { kind: "permission", text: oneLine(text, TEXT.questionLength + tool.length + 2), tool };
}

/** The input of a tool in a word: its command, its file or the host of its URL. */
export function subjectOf(input: unknown): string | undefined {
  const command = commandOf(field(input, "command"));
  if (command !== undefined) return oneLine(command, TEXT.questionLength);
  const path = field(input, "file_path") ?? field(input, "path") ?? field(input, "notebook_path");
  if (typeof path === "string") return oneLine(path, TEXT.questionLength);
  const url = field(input, "url");
  return typeof url === "string" && URL.canParse(url) ? new URL(url).host : undefined;
}

/** A line for a shell, or the words of one. */
function commandOf(command: unknown): string | undefined {
  if (typeof command === "string") return command;
  const isWords = Array.isArray(command) && command.every((word) => typeof word === "string");
  return isWords ? command.join(" ") : undefined;
}

/** A closing quote or mark-up may stand behind the question mark. */
const ENDS_ASKING = /\?["'”’»)*_`\s]*$/u;
const END = 2000;

/** The last sentence of what an agent said, when it asks. */
export function questionAtEnd(message: unknown): HookQuestion | undefined {
  if (typeof message !== "string") return undefined;
  const end = message.trimEnd().slice(-END);
  if (!ENDS_ASKING.test(end)) return undefined;
  const line = end.split(/[\r\n]/u).at(-1) ?? "";
  const sentence = line.split(/(?<=[.!?:]["'”’»)*_`]*)\s+/u).at(-1) ?? line;
  const text = oneLine(sentence.replaceAll(/^[*_`\s]+|[*_`\s]+$/gu, ""), TEXT.questionLength);
  return { kind: "text", text };
}
