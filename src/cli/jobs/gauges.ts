/** How far a job is and what it has left to spend, as it tells by its events. Pure. */
import { parseBudget } from "../../core/jobs/budget.ts";
import { amountOfNumber, amountText, type Amount } from "../../core/jobs/decimal.ts";
import type { MetricBody, ProgressBody } from "../../core/jobs/events.ts";
import type { JobHandle } from "../../wires/arcp/client/job.ts";
import type { ReceivedEvent } from "../../wires/arcp/client/types.ts";
import { clean } from "../terminal/clean.ts";
import { truncate } from "../terminal/width.ts";

export interface PurseGauge {
  readonly given: Amount;
  left: Amount;
}

export class Gauges {
  #progress: ProgressBody | undefined;
  #phase: string | undefined;
  readonly #purses = new Map<string, PurseGauge>();

  /** Of a job that is followed later `budget` is what it has left; its lease has the whole. */
  constructor({ budget, lease }: Pick<JobHandle, "budget" | "lease">) {
    const granted = parseBudget(lease["cost.budget"] ?? []);
    for (const [currency, left] of budget) {
      const whole = granted.ok ? granted.budget.get(currency) : undefined;
      this.#purses.set(currency, { given: whole ?? left, left });
    }
  }

  take(event: ReceivedEvent): void {
    if (event.kind === "progress") this.#progress = event.body;
    else if (event.kind === "metric") this.#spend(event.body);
    else if (event.kind === "status") this.#phase = event.body.phase;
  }

  /** A runtime that tells what is left knows best; else costs are taken off. */
  #spend({ name, value, unit = "" }: MetricBody): void {
    const purse = this.#purses.get(unit);
    const amount = amountOfNumber(value);
    if (!purse || amount === undefined) return;
    if (name === "cost.budget.remaining") purse.left = amount;
    else if (name.startsWith("cost.") && amount > 0n) purse.left -= amount;
  }

  /** `[████████░░░░] 40/120 files · one`, or the phase it is in. */
  progress(width: number): string {
    if (!this.#progress) return this.#phase === undefined ? "" : clean(this.#phase);
    const { current, total, units = "", message = "" } = this.#progress;
    const count = total === undefined ? String(current) : `${current}/${total}`;
    const said = [clean(`${count} ${units}`).trim(), clean(message)].filter(Boolean).join(" · ");
    if (total === undefined || total <= 0) return said;
    return `${bar(current / total, width)} ${said}`;
  }

  /** `USD 1.9 of 2.5 left`. */
  budget(width: number): readonly string[] {
    return [...this.#purses].map(([currency, { given, left }]) => {
      const share = given <= 0n ? 0 : Number((left * 1000n) / given) / 1000;
      const sums = `${amountText(rounded(left))} of ${amountText(given)} left`;
      return `${clean(currency)} ${bar(share, width)} ${sums}`;
    });
  }
}

/** Cents are enough to look at, and a thousandth of them for what is cheap. */
function rounded(amount: Amount): Amount {
  const unit = 10n ** 19n;
  return (amount / unit) * unit;
}

function bar(share: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * width);
  return `[${"█".repeat(full)}${"░".repeat(width - full)}]`;
}

/** An event as one line for people; empty for an event that the gauges show. */
export function gaugeSentence(event: ReceivedEvent): string {
  switch (event.kind) {
    case "log":
      return `${event.body.level.padEnd(5)} ${event.body.message}`;
    case "thought":
      return `thinks ${event.body.text}`;
    case "tool_call":
      return `calls ${event.body.tool} ${json(event.body.args)}`;
    case "tool_result": {
      const { error, result } = event.body;
      return error ? `got ${error.code}: ${error.message}` : `got ${json(result)}`;
    }
    case "status":
      return `is ${event.body.phase}${event.body.message ? `: ${event.body.message}` : ""}`;
    case "metric": {
      const { name, value, unit = "" } = event.body;
      return `${name} ${value} ${unit}`.trimEnd();
    }
    case "artifact_ref":
      return `made ${event.body.uri} (${event.body.content_type})`;
    case "delegate":
      return `asks ${event.body.agent} ${event.body.child_job_id ?? ""}`.trimEnd();
    case "progress": {
      const { current, total, units = "", message = "" } = event.body;
      const count = total === undefined ? String(current) : `${current}/${total}`;
      return [`${count} ${units}`.trim(), message].filter(Boolean).join(" · ");
    }
    case "result_chunk":
      return "";
  }
  return `${event.kind} ${json(event.body)}`;
}

const LONGEST = 500;

function json(value: unknown): string {
  return value === undefined ? "" : truncate(clean(JSON.stringify(value)), LONGEST);
}
