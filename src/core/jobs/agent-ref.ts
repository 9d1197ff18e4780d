/**
 * How a job names its agent: `name` or `name@version`. We accept what any of the SDKs accepts, and
 * advise names that all of them take.
 */
import { refuse, type Refusal } from "../decide.ts";
import { AGENT } from "./limits.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const VERSION = /^[A-Za-z0-9.+_-]+$/;

export interface AgentRef {
  readonly name: string;
  readonly version: string | undefined;
}

/** An agent that is offered: its versions in the order in which they were registered. */
export interface AgentListing {
  readonly name: string;
  readonly versions: readonly string[];
  readonly default?: string;
}

export function agentRefOf(text: string): AgentRef | undefined {
  const at = text.indexOf("@");
  const name = at < 0 ? text : text.slice(0, at);
  const version = at < 0 ? undefined : text.slice(at + 1);
  if (!isAgentName(name)) return undefined;
  return version === undefined || isAgentVersion(version) ? { name, version } : undefined;
}

export function agentRefText({ name, version }: AgentRef): string {
  return version === undefined ? name : `${name}@${version}`;
}

export function isAgentName(text: string): boolean {
  return text.length <= AGENT.nameLength && NAME.test(text);
}

export function isAgentVersion(text: string): boolean {
  return text.length <= AGENT.versionLength && VERSION.test(text);
}

/**
 * Which agent is meant: the version asked for; without one the default, else the one that was
 * registered last. An agent without versions is known by its bare name only.
 */
export function resolveAgent(ref: AgentRef, listing: AgentListing | undefined): AgentResolution {
  if (!listing || listing.name !== ref.name) {
    return refuse("AGENT_NOT_AVAILABLE", `no agent ${ref.name}`);
  }
  const version = ref.version ?? listing.default ?? listing.versions.at(-1);
  if (version !== undefined && !listing.versions.includes(version)) {
    return refuse("AGENT_VERSION_NOT_AVAILABLE", `no version ${version} of agent ${ref.name}`);
  }
  return { ok: true, ref: { name: ref.name, version } };
}

export type AgentResolution = { readonly ok: true; readonly ref: AgentRef } | Refusal;
