/** Which agents there are: by name, each in the versions that were registered. */
import {
  agentRefOf,
  agentRefText,
  isAgentName,
  isAgentVersion,
  resolveAgent,
  type AgentListing,
} from "../core/jobs/agent-ref.ts";
import { invalidArgument, refusalError, RollcallError } from "../core/errors.ts";
import { functionDriver, type AgentFunction, type Driver } from "./driver.ts";

export interface AgentOptions {
  /** Several versions of one name may be there at once. */
  readonly version?: string;
  /** A request without a version gets this one; else the one that was registered last. */
  readonly isDefault?: boolean;
  /**
   * The fate of its running jobs when the process dies: they end with an error that may be
   * retried, or they run again from the beginning. Children of other jobs never run again.
   */
  readonly restart?: "never" | "always";
}

export interface JobAgent {
  readonly name: string;
  /** `name@version`, or the bare name. */
  readonly ref: string;
  readonly driver: Driver;
  readonly restart: "never" | "always";
}

interface AgentVersions {
  readonly versions: Map<string, JobAgent>;
  bare: JobAgent | undefined;
  preferred: string | undefined;
}

export class JobAgents {
  readonly #byName = new Map<string, AgentVersions>();
  #listing: readonly AgentListing[] | undefined;

  register(name: string, agent: AgentFunction | Driver, options: AgentOptions = {}): void {
    const { version, isDefault = false, restart = "never" } = options;
    if (!isAgentName(name)) throw invalid(`${JSON.stringify(name)} is not a valid agent name`);
    if (version !== undefined && !isAgentVersion(version)) {
      throw invalid(`${JSON.stringify(version)} is not a valid agent version`);
    }
    const driver = typeof agent === "function" ? functionDriver(agent) : agent;
    const registered = { name, ref: agentRefText({ name, version }), driver, restart };
    const named = this.#byName.get(name) ?? newVersions();
    this.#byName.set(name, named);
    if (version === undefined) named.bare = registered;
    else named.versions.set(version, registered);
    if (isDefault) named.preferred = version;
    this.#listing = undefined;
  }

  /** Running jobs go on; new ones are refused. */
  unregister(name: string, version?: string): void {
    const named = this.#byName.get(name);
    if (!named) return;
    if (version === undefined) named.bare = undefined;
    else named.versions.delete(version);
    if (named.preferred === version) named.preferred = undefined;
    if (!named.bare && named.versions.size === 0) this.#byName.delete(name);
    this.#listing = undefined;
  }

  /** The agent that is meant; throws when there is none. */
  resolve(text: string): JobAgent {
    const ref = agentRefOf(text);
    if (!ref) throw invalid("agent is neither NAME nor NAME@VERSION");
    const named = this.#byName.get(ref.name);
    if (ref.version === undefined && named?.bare && named.preferred === undefined) {
      return named.bare;
    }
    const resolved = resolveAgent(ref, named && listingOf(ref.name, named));
    if (!resolved.ok) throw refusalError(resolved);
    const agent = named?.versions.get(resolved.ref.version ?? "") ?? named?.bare;
    if (!agent) throw new RollcallError("AGENT_NOT_AVAILABLE", `no agent ${ref.name}`);
    return agent;
  }

  /** The agents that a welcome offers, in order of name. */
  list(): readonly AgentListing[] {
    this.#listing ??= [...this.#byName]
      .map(([name, named]) => listingOf(name, named))
      .sort((a, b) => (a.name < b.name ? -1 : 1));
    return this.#listing;
  }
}

function newVersions(): AgentVersions {
  return { versions: new Map(), bare: undefined, preferred: undefined };
}

function listingOf(name: string, { versions, preferred }: AgentVersions): AgentListing {
  const listed = { name, versions: [...versions.keys()] };
  const last = preferred ?? listed.versions.at(-1);
  return last === undefined ? listed : { ...listed, default: last };
}

function invalid(message: string): RollcallError {
  return invalidArgument(message);
}
