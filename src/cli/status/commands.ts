/**
 * The commands about status files, each a table of flags and what it does with them. They are the
 * same in `rollcall` and in `agent-status`, which differ in how they read a command line.
 */
import { expandPath, statusFolder } from "../../wires/files/folder.ts";
import { GOAL_SOURCES, LIFECYCLES, TASK_STATES } from "../../wires/files/format.ts";
import { FRESHNESS } from "../../wires/files/limits.ts";
import type { Context } from "../context.ts";
import type { Option, Syntax, ArgumentValue } from "./arguments.ts";
import type { StatusListOptions } from "./list.ts";

/** The values of a command's flags; which of them are there, its table says. */
export class ArgumentValues {
  readonly #values: ReadonlyMap<string, ArgumentValue>;

  constructor(values: ReadonlyMap<string, ArgumentValue>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    return this.#values.get(name) as string | undefined;
  }

  number(name: string): number | undefined {
    return this.#values.get(name) as number | undefined;
  }

  texts(name: string): readonly string[] {
    return (this.#values.get(name) ?? []) as readonly string[];
  }

  toggle(name: string): boolean | undefined {
    return this.#values.get(name) as boolean | undefined;
  }
}

export interface StatusCommand extends Omit<Syntax, "program"> {
  run(context: Context, values: ArgumentValues): Promise<void>;
}

const folderFlag: Option = {
  flag: "--status-dir",
  kind: "text",
  placeholder: "DIR",
  help: "where the files are [AGENT_STATUS_DIR, or agent-status in XDG_STATE_HOME]",
};
const staleFlag: Option = {
  flag: "--stale-after",
  kind: "integer",
  help: "seconds of silence after which an agent is stale [60]",
};
const viewFlags: readonly Option[] = [
  { flag: "--color", kind: "toggle", help: "paint, or do not [on a terminal]" },
  { flag: "--json", kind: "switch", help: "JSON, for programs" },
  { flag: "--needs-me", kind: "switch", help: "only agents that wait for a person" },
  { flag: "--oneline", kind: "switch", help: "counts alone, for a prompt or a status bar" },
];

export const STATUS_COMMANDS: Readonly<Record<string, StatusCommand>> = {
  emit: {
    about: "Write the status of an agent into its file",
    options: [
      { flag: "--agent-id", kind: "text", isRequired: true, help: "its id, unique for this run" },
      { flag: "--agent-name", kind: "text", isRequired: true, help: "the name of its program" },
      {
        flag: "--lifecycle",
        kind: "text",
        isRequired: true,
        choices: LIFECYCLES,
        help: "whether it runs",
      },
      { flag: "--workspace", kind: "text", help: "the folder where it works" },
      { flag: "--pid", kind: "integer", help: "the id of its process" },
      { flag: "--updated-at", kind: "text", help: "the time of this status [now]" },
      { flag: "--last-activity-at", kind: "text", help: "when it last did something" },
      { flag: "--goal-summary", kind: "text", help: "what the session is for" },
      { flag: "--goal-updated-at", kind: "text", help: "when the goal was set" },
      {
        flag: "--goal-source",
        kind: "text",
        choices: GOAL_SOURCES,
        help: "where the goal comes from",
      },
      { flag: "--task-id", kind: "text", help: "the id of its A2A task" },
      { flag: "--context-id", kind: "text", help: "the id of its A2A context" },
      { flag: "--task-state", kind: "text", choices: TASK_STATES, help: "the state of the task" },
      { flag: "--task-summary", kind: "text", help: "what it does now" },
      { flag: "--task-status-timestamp", kind: "text", help: "since when it is in that state" },
      { flag: "--agent-card-url", kind: "text", help: "where its A2A card is" },
      { flag: "--service-url", kind: "text", help: "where its A2A service is" },
      { flag: "--meta", kind: "many", help: "anything else; may be given several times" },
      folderFlag,
    ],
    async run(context, values) {
      const { emit } = await import("./emit.ts");
      await emit(context, values, folderOf(context, values));
    },
  },
  list: {
    about: "Show the agents of this machine",
    options: [folderFlag, staleFlag, ...viewFlags],
    async run(context, values) {
      const { list } = await import("./list.ts");
      await list(context, listOptions(context, values));
    },
  },
  get: {
    about: "Print the status file of an agent",
    options: [folderFlag],
    word: "agent_id",
    async run(context, values) {
      const { get } = await import("./files.ts");
      await get(context, values.text("agent_id") ?? "", folderOf(context, values));
    },
  },
  watch: {
    about: "Show the agents of this machine, as they change",
    options: [
      folderFlag,
      staleFlag,
      { flag: "--interval", kind: "number", help: "seconds between redraws [2]" },
      ...viewFlags,
    ],
    async run(context, values) {
      const { watch } = await import("./watch.ts");
      const intervalMs = (values.number("--interval") ?? 2) * 1000;
      await watch(context, { ...listOptions(context, values), intervalMs });
    },
  },
  validate: {
    about: "Check a status file",
    options: [],
    word: "file",
    async run(context, values) {
      const { validate } = await import("./files.ts");
      await validate(context, values.text("file") ?? "");
    },
  },
  prune: {
    about: "Remove files of agents that ended long ago",
    options: [
      folderFlag,
      staleFlag,
      { flag: "--prune-after", kind: "integer", help: "how old they must be, in seconds [86400]" },
      {
        flag: "--keep-stopped",
        kind: "switch",
        help: "keep those that stopped until they are stale",
      },
    ],
    async run(context, values) {
      const { prune } = await import("./files.ts");
      await prune(context, {
        folder: folderOf(context, values),
        staleAfterMs: staleAfterMs(values),
        pruneAfterMs: (values.number("--prune-after") ?? FRESHNESS.pruneAfterMs / 1000) * 1000,
        keepStopped: values.toggle("--keep-stopped") ?? false,
      });
    },
  },
};

export function folderOf({ env }: Context, values: ArgumentValues): string {
  const given = values.text("--status-dir");
  return given === undefined ? statusFolder(env) : expandPath(given, env);
}

function staleAfterMs(values: ArgumentValues): number {
  return (values.number("--stale-after") ?? FRESHNESS.staleAfterMs / 1000) * 1000;
}

function listOptions(context: Context, values: ArgumentValues): StatusListOptions {
  const form = values.toggle("--json") ? "json" : values.toggle("--oneline") ? "oneline" : "table";
  return {
    folder: folderOf(context, values),
    staleAfterMs: staleAfterMs(values),
    color: values.toggle("--color"),
    needsMe: values.toggle("--needs-me") ?? false,
    form,
  };
}
