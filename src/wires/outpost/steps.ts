/**
 * A message to the team, as steps that it takes whole or not at all. A step ends where an event of
 * our log does; it has one report of an agent at most, since that may change what the next one
 * means.
 */
import type { SentJob } from "../../core/host-jobs.ts";
import { OUTPOST } from "../../core/limits.ts";
import type { Report } from "../../core/reports.ts";
import type { Step } from "../../outposts/outposts.ts";
import { UPLINK } from "./limits.ts";
import type { Told } from "./outgoing.ts";

export class Steps {
  readonly #done: Step[] = [];
  #agents = new Set<string>();
  #reports: Report[] = [];
  #gone: string[] = [];
  /** By id: of a job that is told of twice, the last word counts. */
  #jobs = new Map<string, SentJob>();
  #bytes = 0;
  /** The place that all so far reach to. */
  #at: string;

  constructor(at: string) {
    this.#at = at;
  }

  /** Adds the news of one event, and the place behind it. */
  add(told: readonly Told[], at: string): void {
    const fits = told.every((each) => this.#fits(each));
    if (!fits) this.#cut();
    for (const each of told) {
      this.#bytes += sizeOf(each);
      if ("job" in each) {
        this.#jobs.set(each.job.id, each.job);
        continue;
      }
      const { alias, report } = each;
      const agent = report?.agentId ?? alias;
      // An event that tells of one agent twice tells the same: both are as it is now.
      if (this.#agents.has(agent)) continue;
      this.#agents.add(agent);
      if (report) this.#reports.push(report);
      else this.#gone.push(alias);
    }
    this.#at = at;
  }

  #fits(told: Told): boolean {
    const most = Math.max(this.#agents.size, this.#jobs.size);
    if (most >= OUTPOST.reportsAtOnce / 2) return false;
    if (this.#bytes + sizeOf(told) > UPLINK.stepBytes) return false;
    if ("job" in told) return true;
    return !this.#agents.has(told.report?.agentId ?? told.alias);
  }

  #cut(): void {
    if (this.#agents.size + this.#jobs.size === 0) return;
    const jobs = [...this.#jobs.values()];
    const told = { reports: this.#reports, gone: this.#gone, jobs, jobsGone: [] };
    this.#done.push({ to: this.#at, ...told });
    this.#agents = new Set();
    this.#jobs = new Map();
    this.#reports = [];
    this.#gone = [];
    this.#bytes = 0;
  }

  all(): readonly Step[] {
    this.#cut();
    return this.#done;
  }
}

function sizeOf(told: Told): number {
  if ("job" in told) return Buffer.byteLength(JSON.stringify(told.job));
  const { alias, report } = told;
  return Buffer.byteLength(report ? JSON.stringify(report) : alias);
}

/** As many of the first steps as one call may carry, and the rest. */
export function split(steps: readonly Step[]): readonly (readonly Step[])[] {
  const parts: Step[][] = [];
  let bytes = Infinity;
  for (const step of steps) {
    const size = Buffer.byteLength(JSON.stringify(step));
    const last = parts.at(-1);
    if (last && bytes + size <= UPLINK.takeBytes && last.length < OUTPOST.reportsAtOnce) {
      last.push(step);
      bytes += size;
    } else {
      parts.push([step]);
      bytes = size;
    }
  }
  return parts;
}
