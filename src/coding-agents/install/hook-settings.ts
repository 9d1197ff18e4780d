/**
 * The hooks of Claude Code, Codex, Gemini CLI and Qwen Code: all list, for each event, groups of
 * commands to run.
 *
 *   { "hooks": { "Stop": [ { "hooks": [ { "type": "command", "command": "…" } ] } ] } }
 *
 * Our hooks are recognised by their command, wherever the program is installed.
 */
import { RollcallError } from "../../core/errors.ts";
import type { HookDialect } from "../hooks/dialect.ts";
import type { HookHost } from "../hooks/fact.ts";
import {
  append,
  cut,
  isAlone,
  memberOf,
  meaningOf,
  membersOf,
  partsOf,
  readJson,
  replace,
  type JsonMember,
  type Node,
} from "../../machine/settings/json-edit.ts";

export interface HookPlan {
  readonly host: HookHost;
  readonly events: HookDialect["events"];
  readonly command: string;
}

interface Handler {
  readonly event: string;
  readonly command: Node;
  /** The handler, its group, its event and all hooks: what is cut when it is alone in the next. */
  readonly nest: readonly [Node, Node, Node, Node];
}

function isOurs(command: unknown, host: HookHost): boolean {
  const form = new RegExp(String.raw`\brollcall(?:\.c?js)?["']?\s+hook\s+${host}\b`);
  return typeof command === "string" && form.test(command);
}

/** Every handler of ours, in the order of the text. */
function handlersOf(root: Node, host: HookHost): readonly Handler[] {
  const hooks = hooksOf(root);
  return membersOf(hooks?.value).flatMap(({ key: event, value, property }) =>
    groupsOf(event, value).flatMap((group) =>
      partsOf(memberOf(group, "hooks")).flatMap((handler) => {
        const command = memberOf(handler, "command");
        if (!hooks || !command || !isOurs(meaningOf(command), host)) return [];
        return { event, command, nest: [handler, group, property, hooks.property] };
      }),
    ),
  );
}

function hooksOf(root: Node): JsonMember | undefined {
  if (root.type !== "object") throw wrong("the whole", "an object { … }");
  const hooks = membersOf(root).findLast(({ key }) => key === "hooks");
  if (hooks && hooks.value.type !== "object") throw wrong('"hooks"', "an object { … }");
  return hooks;
}

function groupsOf(event: string, value: Node): readonly Node[] {
  if (value.type !== "array") throw wrong(`"hooks"."${event}"`, "a list [ … ]");
  return partsOf(value);
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
  for (const [event, timeout] of Object.entries(events)) {
    if (there.has(event)) continue;
    text = withGroup(text, event, { hooks: [{ type: "command", command, timeout }] });
  }
  return text;
}

function withGroup(text: string, event: string, group: object): string {
  const root = readJson(text);
  const hooks = hooksOf(root)?.value;
  if (!hooks) return append(text, root, ["hooks", { [event]: [group] }]);
  const groups = memberOf(hooks, event);
  const free = groups && partsOf(groups).find(isFreePlace);
  if (free) return replace(text, free, group);
  return groups ? append(text, groups, ["", group]) : append(text, hooks, [event, [group]]);
}

/** Left in our place after an uninstall, so that the hooks behind it keep their positions. */
const FREE_PLACE = { hooks: [] };

function isFreePlace(group: Node): boolean {
  return JSON.stringify(meaningOf(group)) === JSON.stringify(FREE_PLACE);
}

interface Removal {
  /** Whether the host knows hooks by their places, so that those behind ours must keep theirs. */
  readonly keepsPlaces?: boolean | undefined;
}

export function withoutHooks(before: string, host: HookHost, removal: Removal = {}): string {
  let text = before;
  for (;;) {
    const ours = handlersOf(readJson(text), host).at(-1);
    if (!ours) return text;
    // With it goes what would be left empty.
    const [, group, , hooks] = ours.nest;
    const isOnly = partsOf(memberOf(group, "hooks")).length === 1;
    if (removal.keepsPlaces && isOnly && partsOf(group.parent).at(-1) !== group) {
      text = replace(text, group, FREE_PLACE);
      continue;
    }
    text = cut(text, ours.nest.find((part) => !isAlone(text, part)) ?? hooks);
  }
}

/** A hook of ours, and its place: the group of its event, and the position in that. */
export interface OwnHook {
  readonly event: string;
  readonly group: number;
  readonly index: number;
  readonly command: unknown;
  readonly timeout: unknown;
}

export function ownHooks(text: string, host: HookHost): readonly OwnHook[] {
  const handlers = text.trim() === "" ? [] : handlersOf(readJson(text), host);
  return handlers.map(({ event, command, nest: [handler, group] }) => {
    const timeout = memberOf(handler, "timeout");
    return {
      event,
      group: partsOf(group.parent).indexOf(group),
      index: partsOf(handler.parent).indexOf(handler),
      command: meaningOf(command),
      timeout: timeout && meaningOf(timeout),
    };
  });
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

/** A warning where a switch in the settings stands so that no hooks run. */
export function hooksSwitchedOff(
  settings: string | undefined,
  path: readonly string[],
  off: boolean,
): readonly string[] {
  if (!settings?.trim()) return [];
  const found = path.reduce<Node | undefined>(
    (node, key) => node && memberOf(node, key),
    readJson(settings),
  );
  if (!found || meaningOf(found) !== off) return [];
  return [`${path.join(".")} is ${off} in it: no hooks run until that is taken out`];
}
