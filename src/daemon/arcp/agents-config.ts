/**
 * The agents that a daemon hosts, as its config file says:
 *
 *   [agents.echo]                      NAME, or "NAME@VERSION" in quotes
 *   module = "./echo.mjs"              a module that exports the agent as `agent` or `default`
 *
 *   [agents."indexer@2.1.0"]
 *   command = ["python", "indexer.py"] a runtime that speaks ARCP on its standard streams
 *   restart = "always"                 what runs when the daemon dies runs again
 *   default = true                     who names no version gets this one
 *   env = { ARCP_TOKEN = "…" }         which token it takes; else it finds one there to take
 *
 * Only the file says it: a table does not fit into a flag.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { invalidArgument, type RollcallError } from "../../core/errors.ts";
import { agentRefOf, type AgentRef } from "../../core/jobs/agent-ref.ts";

interface AgentConfigBase extends AgentRef {
  /** As it was said, for messages: `agents.echo in FILE`. */
  readonly source: string;
  readonly restart: "never" | "always";
  readonly isDefault: boolean;
}

export interface ModuleAgent extends AgentConfigBase {
  readonly kind: "module";
  readonly path: string;
}

export interface CommandAgent extends AgentConfigBase {
  readonly kind: "command";
  readonly command: readonly [program: string, ...args: string[]];
  /** The name of the agent in its own runtime. */
  readonly agent: string;
  readonly folder: string;
  /** It may hold secrets, so that what prints a config must not find them. */
  readonly env: () => Readonly<Record<string, string>>;
}

export type AgentConfig = ModuleAgent | CommandAgent;

/** Hosted by one daemon; each child is a process. */
const MAX_AGENTS = 256;
const MAX_ARGUMENTS = 256;
const MAX_VARIABLES = 256;

const RESTART = z.enum(["never", "always"]).default("never");
const TEXT = z.string().min(1).max(4096);

const MODULE = z.strictObject({
  module: TEXT,
  restart: RESTART,
  default: z.boolean().default(false),
});

const COMMAND = z.strictObject({
  command: z.tuple([TEXT], z.string().max(32_768)).refine((list) => list.length <= MAX_ARGUMENTS),
  agent: TEXT.optional(),
  cwd: TEXT.optional(),
  env: z
    .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().max(32_768))
    .refine((variables) => Object.keys(variables).length <= MAX_VARIABLES)
    .default({}),
  restart: RESTART,
  default: z.boolean().default(false),
});

const EXPECTED: Readonly<Record<string, string>> = {
  module: "the path of a module",
  command: `a list of texts: the program, then at most ${MAX_ARGUMENTS - 1} arguments`,
  agent: "the agent's name in its own runtime",
  cwd: "the path of a folder",
  env: `a table of at most ${MAX_VARIABLES} variables, each a text`,
  restart: "never or always",
  default: "true or false",
};

/** The agents of a file; relative paths start from its folder. */
export function parseAgents(
  given: unknown,
  { path, folder }: { readonly path: string; readonly folder: string },
): readonly AgentConfig[] {
  if (given === undefined) return [];
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw invalid(`agents in ${path} is no table: write [agents.NAME]`);
  }
  const entries = Object.entries(given as Readonly<Record<string, unknown>>);
  if (entries.length > MAX_AGENTS) {
    throw invalid(`agents in ${path} has ${entries.length} entries, at most ${MAX_AGENTS}`);
  }
  return entries.map(([name, said]) => {
    const source = `agents.${name} in ${path}`;
    const ref = agentRefOf(name);
    if (!ref) throw invalid(`${source}: not a NAME or a "NAME@VERSION" of an agent`);
    return agentOf(ref, said, { source, folder });
  });
}

interface ConfigPlace {
  readonly source: string;
  readonly folder: string;
}

function agentOf(ref: AgentRef, said: unknown, { source, folder }: ConfigPlace): AgentConfig {
  const table = said as Readonly<Record<string, unknown>>;
  const isTable = typeof said === "object" && said !== null && !Array.isArray(said);
  const [isModule, isCommand] = [isTable && "module" in table, isTable && "command" in table];
  if (isModule === isCommand) {
    throw invalid(`${source}: give either a module or a command`);
  }
  if (isModule) {
    const { module, restart, default: isDefault } = parsed(MODULE, table, source);
    const path = resolve(folder, module);
    return { ...ref, kind: "module", path, restart, isDefault, source };
  }
  const {
    command,
    agent = ref.name,
    cwd = ".",
    env,
    restart,
    ...rest
  } = parsed(COMMAND, table, source);
  const at = {
    folder: resolve(folder, cwd),
    env: () => env,
    restart,
    isDefault: rest.default,
    source,
  };
  return { ...ref, kind: "command", command, agent, ...at };
}

function parsed<Schema extends z.ZodType>(
  schema: Schema,
  table: unknown,
  source: string,
): z.output<Schema> {
  const result = schema.safeParse(table);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  if (issue?.code === "unrecognized_keys") {
    const known = Object.keys(EXPECTED).join(", ");
    throw invalid(`${source}: ${issue.keys[0] ?? ""} is not known; there are ${known}`);
  }
  const field = String(issue?.path[0] ?? "");
  throw invalid(`${source}: ${field} is wrong: expected ${EXPECTED[field] ?? "something else"}`);
}

function invalid(message: string): RollcallError {
  return invalidArgument(message);
}
