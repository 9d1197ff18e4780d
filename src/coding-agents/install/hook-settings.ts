/**
 * The hooks of Claude Code and Codex: both list, for each event, groups of commands to run.
 *
 *   { "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "…" } ] } ] } }
 *
 * What is ours is known by its command, wherever the program lies.
 */
import { RollcallError } from "../../core/errors.ts";
import type { HookEvent, HookHost } from "../hooks/fact.ts";
import {
  append,
  cut,
  memberOf,
  meaningOf,
  readJson,
  replace,
  type Node,
} from "../../machine/settings/json-edit.ts";

export interface HookPlan {
  readonly host: HookHost;
  readonly events: readonly HookEvent[];
  readonly command: string;
}

/** In seconds. A hook takes a few hundredths of one; a host must not wait for one that hangs. */
const TIMEOUT = 10;

interface Handler {
  readonly event: string;
  readonly group: number;
  readonly index: number;
  readonly command: Node;
}

function isOurs(command: unknown, host: HookHost): boolean {
  const form = new RegExp(String.raw`\brollcall(?:\.c?js)?["']?\s+hook\s+${host}\b`);
  return typeof command === "string" && form.test(command);
}

/** Every handler of ours, in the order of the text. */
function handlersOf(root: Node, host: HookHost): readonly Handler[] {
  const hooks = hooksOf(root);
  return (hooks?.parts ?? []).flatMap(({ key: event, value }) =>
    groupsOf(event, value).parts.flatMap((each, group) => {
      const list = memberOf(each, "hooks");
      const commands = list?.kind === "array" ? list.parts : [];
      return commands.flatMap((handler, index) => {
        const command = memberOf(handler, "command");
        if (!command || !isOurs(meaningOf(command), host)) return [];
        return { event, group, index, command };
      });
    }),
  );
}

type Objects = Extract<Node, { readonly kind: "object" }>;
type Arrays = Extract<Node, { readonly kind: "array" }>;

function hooksOf(root: Node): Objects | undefined {
  if (root.kind !== "object") throw wrong("the whole", "an object { … }");
  const hooks = memberOf(root, "hooks");
  if (hooks && hooks.kind !== "object") throw wrong('"hooks"', "an object { … }");
  return hooks;
}

function groupsOf(event: string, value: Node): Arrays {
  if (value.kind !== "array") throw wrong(`"hooks"."${event}"`, "a list [ … ]");
  return value;
}

function wrong(what: string, wanted: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", `${what} must be ${wanted}`);
}

export function withHooks(before: string, { host, events, command }: HookPlan): string {
  let text = before.trim() === "" ? "{}\n" : before;
  for (const { command: node } of handlersOf(readJson(text), host).toReversed()) {
    if (meaningOf(node) !== command) text = replace(text, node, command);
  }
  const there = new Set(handlersOf(readJson(text), host).map(({ event }) => event));
  for (const event of events.filter((each) => !there.has(each))) {
    text = withGroup(text, event, { hooks: [{ type: "command", command, timeout: TIMEOUT }] });
  }
  return text;
}

function withGroup(text: string, event: string, group: object): string {
  const root = readJson(text);
  const hooks = hooksOf(root);
  if (!hooks) {
    return root.kind === "object" ? append(text, root, ["hooks", { [event]: [group] }]) : text;
  }
  const groups = memberOf(hooks, event);
  if (!groups) return append(text, hooks, [event, [group]]);
  return append(text, groupsOf(event, groups), ["", group]);
}

export function withoutHooks(before: string, host: HookHost): string {
  let text = before;
  for (;;) {
    const [ours] = handlersOf(readJson(text), host);
    if (!ours) return text;
    text = withoutHandler(text, ours);
  }
}

/** With it goes what would be left empty. */
function withoutHandler(text: string, { event, group, index }: Handler): string {
  const root = readJson(text);
  const hooks = hooksOf(root);
  const groups = memberOf(hooks, event);
  const list = groups?.kind === "array" ? memberOf(groups.parts[group], "hooks") : undefined;
  if (root.kind !== "object" || !hooks || groups?.kind !== "array" || list?.kind !== "array") {
    return text;
  }
  if (list.parts.length > 1) return cut(text, list, index);
  if (groups.parts.length > 1) return cut(text, groups, group);
  if (hooks.parts.length > 1) return cut(text, hooks, keyIndex(hooks, event));
  return cut(text, root, keyIndex(root, "hooks"));
}

function keyIndex({ parts }: Objects, key: string): number {
  return parts.findLastIndex((member) => member.key === key);
}

export interface HookCensus {
  /** Events that are told to us by the very command that would be installed. */
  readonly current: readonly string[];
  /** Events that are told to us by another: of an older version, or of another place. */
  readonly outdated: readonly string[];
}

export function censusOf(text: string, { host, command }: HookPlan): HookCensus {
  const handlers = text.trim() === "" ? [] : handlersOf(readJson(text), host);
  const isCurrent = ({ command: node }: Handler) => meaningOf(node) === command;
  return {
    current: handlers.filter(isCurrent).map(({ event }) => event),
    outdated: handlers.filter((each) => !isCurrent(each)).map(({ event }) => event),
  };
}
