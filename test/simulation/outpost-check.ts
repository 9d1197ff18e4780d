/**
 * What outposts sent, as the log has it. Clients number what they send for a host: the cursor of
 * each take is the next number, and its report has the number as its goal. So one that is taken
 * twice, out of order or without its cursor is seen in the log alone.
 */
import type { Event } from "../../src/core/events.ts";
import { reportingHost } from "../../src/core/report-owners.ts";

type Fail = (invariant: string, detail: string) => void;

const ONCE = "what an outpost sends is taken once and in order";

export class OutpostCheck {
  readonly #taken = new Map<string, number>();
  /** Of reports whose cursor must come next. */
  readonly #open = new Map<string, number>();

  take(event: Event, fail: Fail): void {
    if (event.type === "outpost.forgotten") this.#taken.delete(event.host);
    if (event.type === "outpost.took") this.#took(event.host, Number(event.cursor), fail);
    if (event.type !== "fleet.reported") return;
    const host = reportingHost(event.report);
    const number = Number(event.report.facts.goal ?? 0);
    // What one source says may end what another said before.
    if (host === undefined || number <= this.#of(host)) return;
    if (number !== this.#of(host) + 1) fail(ONCE, `${host}: ${number} after ${this.#of(host)}`);
    this.#open.set(host, number);
  }

  #took(host: string, cursor: number, fail: Fail): void {
    if (cursor !== this.#of(host) + 1)
      fail(ONCE, `${host}: up to ${cursor} after ${this.#of(host)}`);
    const open = this.#open.get(host) ?? cursor;
    if (open !== cursor) fail(ONCE, `${host}: report ${open} with cursor ${cursor}`);
    this.#open.delete(host);
    this.#taken.set(host, cursor);
  }

  #of(host: string): number {
    return this.#taken.get(host) ?? 0;
  }
}
