/** The agents of the config file, from their start to their end: modules here, children beside. */
import { pathToFileURL } from "node:url";
import { errorText, invalidArgument } from "../../core/errors.ts";
import { agentRefText } from "../../core/jobs/agent-ref.ts";
import type { Liveness, Judgement } from "../../core/reports.ts";
import type { Clock } from "../../core/clock.ts";
import type { AgentFunction, Driver } from "../../jobs/driver.ts";
import type { Logger } from "../logger.ts";
import type { AgentRows } from "./agent-rows.ts";
import type { AgentConfig, ModuleAgent } from "./agents-config.ts";
import { ChildRuntime } from "../../wires/arcp/driver/child-runtime.ts";

export interface HostedAgentsOptions {
  readonly rows: Pick<AgentRows, "setAgent" | "idOf">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly env: NodeJS.ProcessEnv;
}

interface HostedAgent {
  readonly config: AgentConfig;
  readonly driver: AgentFunction | Driver;
}

export class HostedAgents implements AsyncDisposable {
  readonly all: readonly HostedAgent[];
  readonly #children: readonly ChildRuntime[];

  private constructor(all: readonly HostedAgent[], children: readonly ChildRuntime[]) {
    this.all = all;
    this.#children = children;
  }

  /** Modules are loaded first: one that cannot be is told before any process is started. */
  static async start(
    configs: readonly AgentConfig[],
    options: HostedAgentsOptions,
  ): Promise<HostedAgents> {
    const all: HostedAgent[] = [];
    for (const config of configs) {
      if (config.kind === "module") all.push({ config, driver: await load(config) });
      options.rows.setAgent(config.name);
    }
    const children: ChildRuntime[] = [];
    const states = new Map<AgentConfig, Judgement<Liveness>>(
      all.map(({ config }) => [config, LOADED] as const),
    );
    for (const config of configs) {
      if (config.kind === "module") continue;
      const child = new ChildRuntime({
        ...options,
        agent: config,
        rowId: options.rows.idOf(config.name),
        onLiveness: (liveness) => {
          states.set(config, liveness);
          options.rows.setAgent(config.name, livenessOf(config.name, states) ?? liveness);
        },
      });
      children.push(child);
      all.push({ config, driver: child.driver });
    }
    return new HostedAgents(all, children);
  }

  /** Processes that run, or will again. */
  get children(): number {
    return this.#children.length;
  }

  get restarts(): number {
    return this.#children.reduce((sum, child) => sum + child.restartsEver, 0);
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

const LOADED: Judgement<Liveness> = { value: "alive", rule: "its module is loaded" };

/** Of an agent with several versions: while one of them can be had, it can. */
function livenessOf(
  name: string,
  states: ReadonlyMap<AgentConfig, Judgement<Liveness>>,
): Judgement<Liveness> | undefined {
  for (const [config, liveness] of states) {
    if (config.name === name && liveness.value === "alive") return liveness;
  }
  return undefined;
}

async function load(config: ModuleAgent): Promise<AgentFunction> {
  const { source, path } = config;
  let loaded: Readonly<Record<string, unknown>>;
  try {
    loaded = (await import(pathToFileURL(path).href)) as typeof loaded;
  } catch (cause) {
    const why = errorText(cause);
    throw invalidArgument(`${source}: cannot load ${path}: ${why}`, cause);
  }
  const agent = loaded["agent"] ?? loaded["default"];
  if (typeof agent === "function") return agent as AgentFunction;
  const name = agentRefText(config);
  throw invalidArgument(
    `${source}: ${path} exports no function as agent or default: ` +
      `write \`export async function agent(input, job) { … }\` for ${name}`,
  );
}
