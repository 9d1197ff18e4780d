/**
 * Shows what the agent does, out of band: its status file always, the fleet where a daemon runs.
 * The stream never waits for it, and what goes wrong here is nobody's trouble.
 */
import { hostname } from "node:os";
import { findProcess, startedAtMs } from "../../../machine/processes.ts";
import type { Report } from "../../../core/reports.ts";
import type { Clock } from "../../../core/clock.ts";
import { writeMeta, type OwnMeta } from "../../files/meta.ts";
import { StatusEmitter } from "../../files/emitter.ts";
import { tmuxPane, type Environment } from "../../../machine/surroundings.ts";
import { Courier, type CourierOptions } from "./courier.ts";
import { metaOf, proxyReport, taskOf, type Identity, type SessionPresence } from "./presence.ts";

export interface PublisherOptions extends Pick<CourierOptions, "deliver"> {
  /** Names the status file, and the report. */
  readonly id: string;
  /** The agent whose row it is. */
  readonly agentId: string;
  /** Until the agent says what it is called. */
  readonly name: string;
  readonly env: Environment;
  readonly folder?: string;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

export class Publisher implements AsyncDisposable {
  readonly #clock: Clock;
  readonly #emitter: StatusEmitter;
  readonly #courier: Courier;
  readonly #identity: Identity;
  readonly #own: OwnMeta;
  #latest: SessionPresence | undefined;
  #shown = "";
  #goal: string | undefined;
  #activeAtMs = 0;
  #isClosed = false;

  constructor(options: PublisherOptions) {
    const { id, agentId, name, env, folder, clock, deliver, onError } = options;
    this.#clock = clock;
    this.#courier = new Courier({ deliver, clock, renew: (report) => this.#renewed(report) });
    const found = findProcess(process.pid);
    const startedAt = found && startedAtMs(found);
    this.#identity = {
      alias: `acp@${hostname()}:${id}`,
      agentId,
      process: { pid: process.pid, ...(startedAt !== undefined && { startedAtMs: startedAt }) },
    };
    this.#own = {
      agentId,
      process: found && { pid: found.pid, start: found.start },
      tmux: tmuxPane(env),
    };
    this.#emitter = new StatusEmitter({
      agentName: name,
      agentId: id,
      meta: writeMeta(this.#own),
      now: () => clock.wallMs(),
      onError,
      ...(folder !== undefined && { folder }),
    });
  }

  show(presence: SessionPresence): void {
    if (this.#isClosed) return;
    this.#latest = presence;
    const { atMs: _, ...said } = presence;
    const text = JSON.stringify(said);
    if (text === this.#shown) return;
    this.#shown = text;
    const { name, workspace, goal } = presence;
    this.#emitter.describe({
      agentName: name,
      meta: writeMeta({ ...this.#own, ...metaOf(presence) }),
      ...(workspace?.startsWith("/") && { workspace }),
    });
    if (goal !== null && goal !== this.#goal) this.#emitter.goal((this.#goal = goal));
    this.#emitter.task(taskOf(presence));
    this.#courier.send(proxyReport(presence, this.#identity));
  }

  /** Something went by that changed nothing. */
  activity(): void {
    if (this.#isClosed) return;
    this.#activeAtMs = Math.floor(this.#clock.wallMs());
    this.#emitter.activity();
  }

  /** Nothing more is asked, and the file goes. Idempotent. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    await Promise.all([this.#courier.close(this.#lastReport()), this.#emitter.close()]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** It may have worked all the time without doing anything else. */
  #renewed(report: Report): Report {
    const { facts } = report;
    const lastActivityAtMs = Math.max(facts.lastActivityAtMs ?? 0, this.#activeAtMs);
    return { ...report, facts: { ...facts, lastActivityAtMs } };
  }

  #lastReport(): Report | undefined {
    if (!this.#latest) return undefined;
    const report = proxyReport(this.#latest, this.#identity);
    const { question: _, ...facts } = report.facts;
    const atMs = Math.max(report.order, Math.floor(this.#clock.wallMs()));
    const liveness = { value: "exited", rule: "its process ended" } as const;
    return { ...report, order: atMs, reportedAtMs: atMs, facts: { ...facts, liveness } };
  }
}
