/** Calls of commands to a daemon, and how their results and errors are shown. */
import { connect, type Client } from "../wires/api/client/client.ts";
import { findTarget } from "../net/http/target.ts";
import { invalidArgument } from "../core/errors.ts";
import { shortId } from "../core/words.ts";
import { lookUp } from "./api.ts";
import type { Context } from "./context.ts";
import type { DaemonFlags } from "./flags.ts";
import { clean, cleanJson } from "./terminal/clean.ts";
import { factLines, type Fact, type Look } from "./terminal/table.ts";
import { moment } from "./terminal/time.ts";

export function daemonOf({ env }: Context, flags: DaemonFlags): Client {
  return connect({ ...findTarget(flags, env), agentKey: env["ROLLCALL_AGENT_KEY"] || undefined });
}

/** All that looking something up takes. */
type Reader = Pick<Client, "get">;

const WHOLE_ID = /^[0-9a-f]{32}$/;

/** The id of the agent that acts: as given, or as the environment says. */
export async function actingAgent(
  daemon: Reader,
  { env }: Pick<Context, "env">,
  flag: string | undefined,
): Promise<string> {
  const given = flag ?? env["ROLLCALL_AGENT_ID"] ?? "";
  if (given !== "") return agentId(daemon, given);
  throw invalidArgument("--agent is not set: say which agent does it, or set ROLLCALL_AGENT_ID");
}

/** The whole id of an agent of the registry that is named as people do. */
export async function agentId(daemon: Reader, given: string): Promise<string> {
  if (WHOLE_ID.test(given)) return given;
  return (await lookUp(daemon, "agents.get", { input: { agentId: given } })).agent.agentId;
}

/** The same of a task. */
export async function taskId(daemon: Reader, given: string): Promise<string> {
  if (WHOLE_ID.test(given)) return given;
  return (await lookUp(daemon, "tasks.get", { input: { taskId: given } })).task.id;
}

/** The URL of an agent of the directory. */
export async function directoryUrl(daemon: Reader, given: string): Promise<string> {
  if (given.includes("://")) return given;
  return (await lookUp(daemon, "directory.get", { input: { url: given } })).entry.url;
}

/** An agent by its name, where that is known, and always by its id. */
export function who(id: string, name: string | undefined): string {
  return name ? `${clean(name)} (${shortId(id)})` : shortId(id);
}

export async function printJson({ out }: Context, answer: unknown): Promise<void> {
  await out.line(cleanJson(answer));
}

/** One thing for people to read, a line for each fact. */
export async function printFacts(context: Context, facts: readonly Fact[]): Promise<void> {
  for (const line of factLines(facts, lookOf(context))) await context.out.line(line);
}

/** For the person beside the pipe: on stderr. */
export async function note({ err }: Context, text: string): Promise<void> {
  await err.line(err.paint("dim", `· ${clean(text)}`));
}

/** Says of which moment of the past something is shown, if of one. */
export async function noteMoment(context: Context, atMs: number | undefined): Promise<void> {
  if (atMs !== undefined) await note(context, `as of ${moment(atMs, Date.now())}`);
}

export function lookOf({ out }: Context): Look {
  return { width: out.columns, paint: (style, text) => out.paint(style, text) };
}
