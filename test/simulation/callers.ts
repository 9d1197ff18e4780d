/**
 * The callers of a life. A client acts as its own principal, an agent's; for what only the daemon
 * and its operator may do it is the operator, and now and then it is somebody it should not be, or
 * has a key that is not its agent's.
 */
import { byOf, withAgentKey, type By } from "../../src/core/by.ts";
import { LOCAL } from "../../src/core/principals.ts";
import type { Command } from "../../src/core/rules.ts";
import type { Random } from "./random.ts";

export const OPERATOR: By = byOf(LOCAL, "grpc", "socket");

/** Few, so that clients share them, and the names that jobs and sessions have. */
const NAMES = ["ann", "bob"];

function agentBy(name: string): By {
  return byOf({ ...LOCAL, name, kind: "agent", roles: ["agent"] }, "grpc", "127.0.0.1");
}

function outpostBy(host: string): By {
  const name = outpostName(host);
  return byOf({ ...LOCAL, name, kind: "service", roles: ["outpost"], host }, "http", "10.0.0.7");
}

/** The token of a host. */
export function outpostName(host: string): string {
  return `token:${host}`;
}

/** Whether the log may say that this principal acted for others. */
export function isOperator(principal: string): boolean {
  return principal === OPERATOR.principal.name;
}

export interface CallerOptions {
  readonly random: Random;
  /** The key of an agent of its own, where it uses one. */
  readonly keyOf: (agentId: string) => string | undefined;
}

export class Callers {
  readonly #options: CallerOptions;
  readonly #own: By;

  constructor(options: CallerOptions) {
    this.#options = options;
    this.#own = agentBy(options.random.pick(NAMES));
  }

  callerOf(command: Command): By {
    const { random, keyOf } = this.#options;
    if (random.chance(0.03)) return random.pick([OPERATOR, ...NAMES.map(agentBy)]);
    if ("agentId" in command) {
      const key = random.chance(0.03) ? random.id() : keyOf(command.agentId);
      return key === undefined ? this.#own : withAgentKey(this.#own, key);
    }
    if ("host" in command && command.type.startsWith("outpost.")) return outpostBy(command.host);
    if ("principal" in command) return agentBy(command.principal);
    return OWN.has(command.type) ? this.#own : OPERATOR;
  }
}

const OWN: ReadonlySet<Command["type"]> = new Set([
  "agent.register",
  "task.create",
  "task.cancel",
  "fleet.report",
  "fleet.forget",
  "job.cancel",
  "session.prove",
  "session.subscribe",
  "session.unsubscribe",
  "directory.heartbeat",
]);
