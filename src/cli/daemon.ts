/** Calls of commands to a daemon, and how their results and errors are shown. */
import { connect, type Client } from "../wires/api/client/client.ts";
import { findTarget } from "../net/http/target.ts";
import { invalidArgument } from "../core/errors.ts";
import { shortId } from "../core/words.ts";
import type { AnswerOf } from "../operations/table.ts";
import type { Context } from "./context.ts";
import type { DaemonFlags } from "./flags.ts";
import { clean, cleanJson } from "./terminal/clean.ts";
import { factLines, type Fact, type Look } from "./terminal/table.ts";
import { moment } from "./terminal/time.ts";

export function daemonOf({ env }: Context, flags: DaemonFlags): Client {
  return connect(findTarget(flags, env));
}

export type QueryValue = string | number | boolean | readonly string[] | undefined;

/**
 * `/v1/leases/{taskId}` with its key, or `/v1/agents?status=alive&…`: what is undefined is left
 * out, a list is given several times.
 */
export function pathOf(path: string, params: Readonly<Record<string, QueryValue>> = {}): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined) continue;
    if (path.includes(`{${name}}`)) {
      filled = filled.replace(`{${name}}`, () => keyInPath(String(value)));
    } else {
      for (const each of Array.isArray(value) ? value : [value]) query.append(name, String(each));
    }
  }
  return query.size === 0 ? filled : `${filled}?${query.toString()}`;
}

/** A key may be any text but two that no URL can hold. */
function keyInPath(key: string): string {
  if (key !== "." && key !== ".." && key !== "") return encodeURIComponent(key);
  throw invalidArgument(`"${key}" cannot be looked up: use the list`);
}

/** All that looking something up takes. */
type Reader = Pick<Client, "get">;

/** The daemon is ours: what it answers has the shape that wires/api/answers.ts promises. */
export async function read<T>(daemon: Reader, path: string, signal?: AbortSignal): Promise<T> {
  return (await daemon.get(path, signal ? { signal } : {})) as T;
}

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
  const { agent } = await read<AnswerOf<"agents.get">>(
    daemon,
    pathOf("/v1/agents/{id}", { id: given }),
  );
  return agent.agentId;
}

/** The same of a task. */
export async function taskId(daemon: Reader, given: string): Promise<string> {
  if (WHOLE_ID.test(given)) return given;
  const { task } = await read<AnswerOf<"tasks.get">>(
    daemon,
    pathOf("/v1/tasks/{id}", { id: given }),
  );
  return task.id;
}

/** The URL of an agent of the directory. */
export async function directoryUrl(daemon: Reader, given: string): Promise<string> {
  if (given.includes("://")) return given;
  const path = pathOf("/v1/directory/{url}", { url: given });
  return (await read<AnswerOf<"directory.get">>(daemon, path)).entry.url;
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
