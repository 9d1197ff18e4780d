/**
 * Callers, commands and replies as text between two members. Both ends are this program, maybe in
 * two versions: what a member does not know it refuses, and takes for nothing else.
 */
import { z } from "zod";
import { byOf, withAgentKey, withRequestId, type By, type Wire } from "../../core/by.ts";
import { isCommandType } from "../../core/commands.ts";
import { invalidArgument, isErrorCode, RollcallError } from "../../core/errors.ts";
import { ROLES } from "../../core/principals.ts";
import type { Command } from "../../core/rules.ts";

const WIRES: Readonly<Record<Wire, true>> = {
  grpc: true,
  http: true,
  mcp: true,
  a2a: true,
  arcp: true,
  files: true,
  directory: true,
  job: true,
  library: true,
  outpost: true,
  daemon: true,
  engine: true,
};

const CALLER = z.strictObject({
  principal: z.strictObject({
    name: z.string(),
    kind: z.enum(["person", "service", "agent"]),
    namespace: z.string(),
    roles: z.array(z.enum(ROLES)),
    host: z.string().exactOptional(),
  }),
  wire: z.enum(Object.keys(WIRES) as [Wire, ...Wire[]]),
  peer: z.string(),
  agentKey: z.string().optional(),
  requestId: z.string().optional(),
});

export function callerText({ principal, wire, peer, agentKey, requestId }: By): string {
  return JSON.stringify({ principal, wire, peer, agentKey, requestId });
}

export function callerOf(text: string): By {
  const { success, data } = CALLER.safeParse(parsed("by_json", text));
  if (!success) throw invalidArgument("by_json is no caller that this version knows");
  const { principal, wire, peer, agentKey, requestId } = data;
  const by = withAgentKey(byOf(principal, wire, peer), agentKey);
  return requestId === undefined ? by : withRequestId(by, requestId);
}

/** Its fields are for the rules, as those of any command. */
export function commandOf(text: string): Command {
  const command = parsed("command_json", text);
  const type =
    typeof command === "object" && command !== null && "type" in command ? command.type : "";
  if (typeof type === "string" && isCommandType(type)) return command as Command;
  const message = `this version knows no command ${String(type)}: upgrade the node that leads`;
  throw new RollcallError("UNIMPLEMENTED", message);
}

/** An error of another member, as it was. */
export function errorOf(code: string, message: string): RollcallError {
  return new RollcallError(isErrorCode(code) ? code : "INTERNAL", message);
}

function parsed(field: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidArgument(`${field} is no JSON`, cause);
  }
}
