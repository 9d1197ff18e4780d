/**
 * The caller of a command: a principal, the wire by which it came, and the other end of that wire.
 * Rules ask it who may act for whom and whose a new thing is; every event that comes of the command
 * keeps it, in a few characters. An event without one is the engine's own: a deadline passed.
 */
import { DEFAULT_NAMESPACE, LOCAL, type Principal } from "./principals.ts";

/** The doors of a daemon; the sources beside them; a job that delegates; a program of its own. */
export type Wire =
  | "grpc"
  | "http"
  | "mcp"
  | "a2a"
  | "arcp"
  | "files"
  | "directory"
  | "job"
  | "library"
  | "outpost"
  | "daemon"
  | "engine";

export interface By {
  readonly principal: Principal;
  readonly wire: Wire;
  /** An address, `socket` for the daemon's own, or the id of a job; empty where there is none. */
  readonly peer: string;
  /** As the log has it. */
  readonly text: string;
  /** Whether it may act for everybody (see acting.ts). */
  readonly isOperator: boolean;
  /** The digest of the key of an agent that came with the call. */
  readonly agentKey?: string | undefined;
  /** The name of this very request: a retry has the same one (see requests.ts). */
  readonly requestId?: string | undefined;
}

/** The caller of a command, as its events tell it. */
export interface RecordedBy {
  readonly principal: string;
  readonly wire: string;
  readonly peer: string;
}

export function byOf(principal: Principal, wire: Wire, peer = ""): By {
  const text = `${wire},${peer},${escaped(principal.name)}`;
  const isOperator = principal.roles.some((role) => role === "operator" || role === "admin");
  return { principal, wire, peer, text, isOperator, agentKey: undefined, requestId: undefined };
}

/** The header, or metadata, with the key of the agent that a call acts for. */
export const AGENT_KEY = "rollcall-agent-key";

/** The same caller, with the digest of an agent's key, or without one. */
export function withAgentKey(by: By, agentKey: string | undefined): By {
  const { principal, wire, peer, text, isOperator, requestId } = by;
  return { principal, wire, peer, text, isOperator, agentKey, requestId };
}

/** The same caller, with the name of its request. */
export function withRequestId(by: By, requestId: string): By {
  const { principal, wire, peer, text, isOperator, agentKey } = by;
  return { principal, wire, peer, text, isOperator, agentKey, requestId };
}

/** The same caller, as it is called by another wire that a door carries. */
export function onWire({ principal, peer, agentKey }: By, wire: Wire): By {
  return withAgentKey(byOf(principal, wire, peer), agentKey);
}

/** The daemon itself, at work for the user that runs it. */
export function ownBy(wire: Wire): By {
  return byOf(LOCAL, wire);
}

/** A principal of which only the name is known: it may do what is its own, and nothing else. */
export function namedBy(name: string, wire: Wire, peer = ""): By {
  const principal = { name, kind: "agent", namespace: DEFAULT_NAMESPACE, roles: [] } as const;
  return byOf(principal, wire, peer);
}

/** A program with an engine of its own: it is the user that runs it. */
export const LIBRARY: By = ownBy("library");

/** The engine of its own accord: its events tell no caller. */
export const ITSELF: By = { ...ownBy("engine"), text: "" };

/** The owner of what was made before there were principals, or by the user that runs the daemon. */
const FIRST_OWNER = LOCAL.name;

/** The owner to write into a new record: absent for most, which belong to `local`. */
export function newOwner({ principal: { name } }: By): string | undefined {
  return ownerNamed(name);
}

/** The owner of this name, as a record has it. */
export function ownerNamed(name: string): string | undefined {
  return name === FIRST_OWNER ? undefined : name;
}

/** The name of the principal that a record belongs to. */
export function ownerOf({ owner = FIRST_OWNER }: { readonly owner?: string | undefined }): string {
  return owner;
}

/** A space ends the text in the log. */
function escaped(name: string): string {
  return name.replaceAll(/[% ]/g, encodeURIComponent);
}

export function recordedBy(text: string): RecordedBy {
  const [wire = "", peer = "", ...name] = text.split(",");
  return { principal: decodeURIComponent(name.join(",")), wire, peer };
}
