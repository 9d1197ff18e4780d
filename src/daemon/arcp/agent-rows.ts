/**
 * The agents that this daemon hosts, as rows of the fleet: whether each can be had. What their jobs
 * do is in the state, and the fleet reads it there.
 */
import type { Clock } from "../../core/clock.ts";
import { agentRowId } from "../../core/agent-jobs.ts";
import type { Liveness, Report, Judgement } from "../../core/reports.ts";

/** A daemon may die without a word; it repeats its reports well before their time is up. */
const TTL_MS = 300_000;
const REPEAT_MS = 120_000;

export interface AgentRowsOptions {
  readonly node: string;
  readonly clock: Clock;
  readonly onTrouble: (what: string, error: unknown) => void;
}

const HOSTED: Judgement<Liveness> = { value: "alive", rule: "it is hosted here" };

export class AgentRows {
  readonly #options: AgentRowsOptions;
  readonly #liveness = new Map<string, Judgement<Liveness>>();
  #report: ((report: Report) => Promise<unknown>) | undefined;
  #stopRepeat: () => void = () => undefined;

  constructor(options: AgentRowsOptions) {
    this.#options = options;
  }

  idOf(agent: string): string {
    return agentRowId({ node: this.#options.node, agent });
  }

  /** From now on reports can be made; those that were not are. */
  open(report: (report: Report) => Promise<unknown>): void {
    this.#report = report;
    this.#repeat();
  }

  /** The row of an agent: it is there from now on, in this state. */
  setAgent(name: string, liveness: Judgement<Liveness> = HOSTED): void {
    this.#liveness.set(name, liveness);
    this.#send(name, liveness);
  }

  close(): void {
    this.#report = undefined;
    this.#stopRepeat();
  }

  /** Silence would be taken for death. */
  #repeat(): void {
    for (const [name, liveness] of this.#liveness) this.#send(name, liveness);
    this.#stopRepeat = this.#options.clock.after(REPEAT_MS, () => this.#repeat());
  }

  #send(name: string, liveness: Judgement<Liveness>): void {
    const { clock, onTrouble } = this.#options;
    const id = this.idOf(name);
    const nowMs = clock.wallMs();
    const facts = { name, liveness };
    const report = { alias: id, agentId: id, links: [], ttlMs: TTL_MS, facts };
    this.#report?.({ ...report, order: nowMs, reportedAtMs: nowMs }).catch((error: unknown) =>
      onTrouble(`${id} was not reported`, error),
    );
  }
}
