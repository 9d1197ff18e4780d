/** The daemon of a command, and the ids of what people name there. */
import { connect, type Client } from "../wires/api/client/client.ts";
import { findTarget } from "../net/http/target.ts";
import { invalidArgument } from "../core/errors.ts";
import { lookUp } from "./api.ts";
import type { Context } from "./context.ts";
import type { DaemonFlags } from "./flags.ts";

export function daemonOf({ env }: Context, flags: DaemonFlags): Client {
  return connect({ ...findTarget(flags, env), agentKey: env["ROLLCALL_AGENT_KEY"] || undefined });
}

/** All that looking something up takes. */
type DaemonReader = Pick<Client, "get">;

const WHOLE_ID = /^[0-9a-f]{32}$/;

/** The id of the agent that acts: as given, or as the environment says. */
export async function actingAgent(
  daemon: DaemonReader,
  { env }: Pick<Context, "env">,
  flag: string | undefined,
): Promise<string> {
  const given = flag ?? env["ROLLCALL_AGENT_ID"] ?? "";
  if (given !== "") return agentId(daemon, given);
  throw invalidArgument("--agent is not set: say which agent does it, or set ROLLCALL_AGENT_ID");
}

/** The whole id of an agent of the registry that is named as people do. */
export async function agentId(daemon: DaemonReader, given: string): Promise<string> {
  if (WHOLE_ID.test(given)) return given;
  return (await lookUp(daemon, "agents.get", { input: { agentId: given } })).agent.agentId;
}

/** The same of a task. */
export async function taskId(daemon: DaemonReader, given: string): Promise<string> {
  if (WHOLE_ID.test(given)) return given;
  return (await lookUp(daemon, "tasks.get", { input: { taskId: given } })).task.id;
}

/** The URL of an agent of the directory. */
export async function directoryUrl(daemon: DaemonReader, given: string): Promise<string> {
  if (given.includes("://")) return given;
  return (await lookUp(daemon, "directory.get", { input: { url: given } })).entry.url;
}
