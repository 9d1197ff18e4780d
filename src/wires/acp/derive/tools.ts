/**
 * The tool calls of a turn, and which of them says what the agent does.
 *
 *   pending ──▶ in_progress ──▶ completed │ failed │ cancelled      over, remembered as that
 *                    └──▶ paused                                    holds nothing up
 *
 * Many agents never say `in_progress`, so `pending` counts as open. An update of an unknown call
 * creates it; what an update leaves out or sets to null stays as it was: agents send the output of
 * a call after they said that it is completed, and that does not open it again.
 *
 * Some agents (Gemini CLI, older Qwen Code) first name a call when they ask for permission. It is
 * open from then on, but only assumed to run: when the agent goes on talking, it is over.
 */
import { idText, listIn, numberIn, textIn } from "./frames.ts";
import { MEMORY, SHOWN, type QuietSituation } from "./limits.ts";
import { URGENCY, type AcpStatus } from "./record.ts";
import { baseName, cut, shownText } from "./shown.ts";

export interface AcpTool {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly title: string | null;
  readonly name: string | null;
  readonly location: string | null;
  /** When it was last heard of, as a place in the order of frames. */
  readonly order: number;
  /** Nothing but a request for permission has told of it. */
  readonly isAssumed: boolean;
}

export type Tools = Map<string, AcpTool>;

interface Kind {
  readonly status: Exclude<AcpStatus, "waiting" | "idle">;
  /** The text for a call that has no name. */
  readonly verb: string;
  readonly quiet: QuietSituation;
}

const KINDS: ReadonlyMap<string, Kind> = new Map([
  ["read", { status: "reading", verb: "Reading", quiet: "read" }],
  ["search", { status: "reading", verb: "Searching", quiet: "read" }],
  ["fetch", { status: "reading", verb: "Fetching", quiet: "read" }],
  ["edit", { status: "writing", verb: "Editing", quiet: "edit" }],
  ["delete", { status: "writing", verb: "Deleting", quiet: "edit" }],
  ["move", { status: "writing", verb: "Moving", quiet: "edit" }],
  ["execute", { status: "writing", verb: "Executing", quiet: "execute" }],
  ["think", { status: "thinking", verb: "Thinking", quiet: "read" }],
  ["switch_mode", { status: "thinking", verb: "Switching mode", quiet: "read" }],
]);

const OTHER: Kind = { status: "thinking", verb: "Working", quiet: "read" };

const OVER: ReadonlySet<string> = new Set(["completed", "failed", "cancelled"]);

export function kindOf({ kind }: AcpTool): Kind {
  return KINDS.get(kind) ?? OTHER;
}

/** `tool_call` and `tool_call_update` alike. */
export function mergeTool(tools: Tools, patch: unknown, order: number): void {
  const id = idText(patch, "toolCallId");
  if (id === undefined) return;
  const known = tools.get(id);
  const tool: AcpTool = {
    id,
    kind: word(textIn(patch, "kind")) ?? known?.kind ?? "other",
    status: word(textIn(patch, "status")) ?? known?.status ?? "pending",
    title: shownText(textIn(patch, "title")) ?? known?.title ?? null,
    name: shownText(textIn(patch, "name")) ?? known?.name ?? null,
    location: locationIn(patch) ?? known?.location ?? null,
    order,
    isAssumed: false,
  };
  tools.set(id, tool);
  if (tools.size > MEMORY.tools) forgetOne(tools);
}

/** The call that a request for permission is about. */
export function assumeTool(tools: Tools, patch: unknown, order: number): void {
  const id = idText(patch, "toolCallId");
  if (id === undefined) return;
  const isNew = tools.get(id)?.isAssumed ?? true;
  mergeTool(tools, patch, order);
  const tool = tools.get(id);
  if (isNew && tool) tools.set(id, { ...tool, isAssumed: true });
}

export function endAssumed(tools: Tools): void {
  for (const { id, isAssumed } of tools.values()) if (isAssumed) tools.delete(id);
}

/** The person said no: whatever the agent says or forgets to say, this call does not run. */
export function failTool(tools: Tools, id: string | undefined): void {
  const tool = id === undefined ? undefined : tools.get(id);
  if (tool !== undefined) tools.set(tool.id, { ...tool, status: "failed" });
}

/** One that is over, if there is any; else the one that was opened first. */
function forgetOne(tools: Tools): void {
  let oldest: string | undefined;
  for (const tool of tools.values()) {
    oldest ??= tool.id;
    if (!OVER.has(tool.status)) continue;
    oldest = tool.id;
    break;
  }
  if (oldest !== undefined) tools.delete(oldest);
}

/** The tools that keep the session from idle: neither paused nor said to be in the background. */
export function openTools(tools: Tools, inBackground: ReadonlySet<string>): readonly AcpTool[] {
  return running(tools).filter(({ id, status }) => status !== "paused" && !inBackground.has(id));
}

/** All that are not over, also those that hold nothing up. */
export function running(tools: Tools): readonly AcpTool[] {
  return [...tools.values()].filter(({ status }) => !OVER.has(status));
}

/** Running tools lead, then those that change the world, then the latest update. */
export function leadingTool(open: readonly AcpTool[]): AcpTool | undefined {
  let leading: AcpTool | undefined;
  for (const tool of open) {
    if (leading === undefined || compare(tool, leading) > 0) leading = tool;
  }
  return leading;
}

function compare(a: AcpTool, b: AcpTool): number {
  return (
    Number(a.status !== "pending") - Number(b.status !== "pending") ||
    URGENCY[kindOf(a).status] - URGENCY[kindOf(b).status] ||
    a.order - b.order
  );
}

/** The best title so far; a bare word ("read") gets the file it works on. Never the raw input. */
export function toolMessage(tool: AcpTool): string {
  const { title, name, location } = tool;
  const label = title ?? name ?? kindOf(tool).verb;
  const isBare = /^[\w-]+$/u.test(label);
  return isBare && location !== null ? cut(`${label} ${location}`, SHOWN.message) : label;
}

export function withMore(message: string, more: number): string {
  if (more <= 0) return message;
  const suffix = ` (+${more} more)`;
  return cut(message, SHOWN.message - suffix.length) + suffix;
}

function locationIn(patch: unknown): string | undefined {
  const [first] = listIn(patch, "locations");
  const path = textIn(first, "path");
  const name = path === undefined ? null : shownText(baseName(path), SHOWN.name);
  if (name === null) return undefined;
  const line = numberIn(first, "line");
  return line === undefined ? name : `${name}:${line}`;
}

/** A word of an enumeration, which may grow; nothing that is as long as a sentence. */
function word(found: string | undefined): string | undefined {
  return found !== undefined && found.length <= MEMORY.wordLength ? found : undefined;
}
