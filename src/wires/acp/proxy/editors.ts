/**
 * Editors whose agents can be made to run through the proxy. Their settings name, for each agent,
 * the command that starts it; ours goes before it, and every byte beside that stays.
 *
 *   { "agent_servers": { "NAME": { "command": "gemini", "args": ["--acp"] } } }
 *   { "agent_servers": { "NAME": { "command": "node", "args":
 *       ["…/rollcall.cjs", "acp", "--", "gemini", "--acp"] } } }
 *
 * Our entries are known by these words, wherever the program lies.
 */
import { join } from "node:path";
import { invalidArgument, type RollcallError } from "../../../core/errors.ts";
import {
  inFile,
  mustStay,
  readIfThere,
  type Plan,
  type Scene,
} from "../../../machine/settings/installer.ts";
import {
  append,
  cut,
  memberOf,
  meaningOf,
  membersOf,
  partsOf,
  prepend,
  readJson,
  replace,
  type Node,
} from "../../../machine/settings/json-edit.ts";

export const EDITORS = ["zed", "jetbrains"] as const;

export type Editor = (typeof EDITORS)[number];

interface EditorFacts {
  readonly name: string;
  readonly file: (scene: Scene) => string;
  /** The next step for the user. */
  readonly next: string;
}

export const EDITOR_FACTS: Readonly<Record<Editor, EditorFacts>> = {
  zed: {
    name: "Zed",
    file: ({ env, home }) =>
      join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "zed", "settings.json"),
    next: "start a new thread with the agent",
  },
  jetbrains: {
    name: "JetBrains",
    file: ({ home }) => join(home, ".jetbrains", "acp.json"),
    next: "restart the IDE, or open a new chat with the agent",
  },
};

export interface EditorPlan extends Plan {
  /** Agents that run through the proxy when the plan is carried out, and those that then do not. */
  readonly changed: readonly string[];
  /** Agents that stand there already as they should. */
  readonly same: readonly string[];
  /** Agents that the editor fetches and starts by itself: there is no command to change. */
  readonly managed: readonly string[];
}

export function planInstall(editor: Editor, scene: Scene): EditorPlan {
  mustStay(scene);
  // Editors that were started from a desktop do not know what a shell finds.
  const words = [scene.node, join(scene.programs, "rollcall.cjs"), "acp", "--"];
  return planOf(EDITOR_FACTS[editor].file(scene), (text, agent) => wrap(text, agent, words));
}

export function planUninstall(editor: Editor, scene: Scene): EditorPlan {
  return planOf(EDITOR_FACTS[editor].file(scene), unwrap);
}

type Edit = (text: string, agent: EditorAgent) => string;

interface EditorAgent {
  readonly name: string;
  readonly node: Node;
  readonly command: Node;
  readonly args: Node | undefined;
}

function planOf(path: string, edit: Edit): EditorPlan {
  const before = readIfThere(path);
  return inFile(path, () => {
    const changed: string[] = [];
    const same: string[] = [];
    const { agents, managed } = agentsOf(before ?? "");
    let after = before;
    // From the last to the first: what stands before is where it was.
    for (const agent of agents.toReversed()) {
      const edited = edit(after ?? "", agent);
      (edited === after ? same : changed).unshift(agent.name);
      after = edited;
    }
    return { path, before, after, changed, same, managed };
  });
}

function agentsOf(text: string): { agents: readonly EditorAgent[]; managed: readonly string[] } {
  if (text.trim() === "") return { agents: [], managed: [] };
  const root = readJson(text);
  if (root.type !== "object") throw wrong("the whole");
  const servers = memberOf(root, "agent_servers");
  if (servers && servers.type !== "object") throw wrong('"agent_servers"');
  const agents: EditorAgent[] = [];
  const managed: string[] = [];
  for (const { key: name, value: node } of membersOf(servers)) {
    if (node.type !== "object") throw wrong(`"agent_servers"."${name}"`);
    const command = memberOf(node, "command");
    if (command?.type === "string") agents.push({ name, node, command, args: argsIn(node) });
    else managed.push(name);
  }
  return { agents, managed };
}

function wrong(what: string): RollcallError {
  return invalidArgument(`${what} must be an object { … }`);
}

function wrap(text: string, agent: EditorAgent, words: readonly string[]): string {
  const inner = innerOf(agent);
  // Of another place, or of an older version: as if it were not there, and then anew.
  if (inner > 0) {
    const there = [commandOf(agent), ...argsOf(agent).slice(0, inner - 1)];
    if (there.join("\0") === words.join("\0")) return text;
    const plain = unwrap(text, agent);
    const again = agentsOf(plain).agents.find(({ name }) => name === agent.name);
    return again ? wrap(plain, again, words) : text;
  }
  const [program = "", ...more] = words;
  const added = [...more, commandOf(agent)];
  // The later place first.
  if (!agent.args) {
    return replace(append(text, agent.node, ["args", added]), agent.command, program);
  }
  const { args, command } = agent;
  if (args.offset > command.offset) return replace(prepend(text, args, added), command, program);
  return prepend(replace(text, command, program), args, added);
}

function unwrap(text: string, agent: EditorAgent): string {
  const inner = innerOf(agent);
  const command = argsOf(agent)[inner - 1];
  if (inner === 0 || command === undefined || !agent.args) return text;
  const isLater = agent.args.offset > agent.command.offset;
  const given = isLater ? text : replace(text, agent.command, command);
  let edited = given;
  for (let i = 0; i < inner; i += 1) {
    const [first] = partsOf(argsIn(serverIn(edited, agent.name)));
    if (first) edited = cut(edited, first);
  }
  edited = withoutEmptyArgs(edited, agent.name);
  return isLater ? replace(edited, agent.command, command) : edited;
}

function serverIn(text: string, name: string): Node | undefined {
  return memberOf(memberOf(readJson(text), "agent_servers"), name);
}

function argsIn(server: Node | undefined): Node | undefined {
  const args = memberOf(server, "args");
  return args?.type === "array" ? args : undefined;
}

/** At the end they are ours, put there for want of any. */
function withoutEmptyArgs(text: string, name: string): string {
  const server = serverIn(text, name);
  const last = membersOf(server).at(-1);
  const isOurs = last?.value === argsIn(server) && partsOf(last?.value).length === 0;
  return last && isOurs ? cut(text, last.property) : text;
}

/** How many of the arguments are ours, the agent's own command with them; 0 for a plain agent. */
function innerOf(agent: EditorAgent): number {
  const words = [commandOf(agent), ...argsOf(agent)];
  const program = words.findIndex((word) => /(?:^|[/\\])rollcall(?:\.c?js)?$/.test(word));
  if (program === -1 || program > 1 || words[program + 1] !== "acp") return 0;
  const end = words.indexOf("--", program + 2);
  return end === -1 || end + 1 >= words.length ? 0 : end + 1;
}

function commandOf({ command }: EditorAgent): string {
  return String(meaningOf(command));
}

function argsOf({ args }: EditorAgent): readonly string[] {
  return partsOf(args).map((part) => String(meaningOf(part)));
}
