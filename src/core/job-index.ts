/**
 * Jobs by principal, in the order of their ids, which is the order in which they were made; and by
 * idempotency key. A page begins after an id, so it costs a binary search wherever it begins, and
 * jobs that come and go between two pages neither repeat nor hide another.
 */
import type { Job } from "./jobs.ts";

/** The ids of one principal's jobs; so many are gone, and skipped until a new array is worth it. */
interface Shelf {
  ids: string[];
  gone: number;
}

export class JobIndex {
  /** Whether a job is there. */
  readonly #has: (id: string) => boolean;
  readonly #byPrincipal = new Map<string, Shelf>();
  readonly #byKey = new Map<string, string>();
  readonly #keys = new Map<string, number>();

  constructor(has: (id: string) => boolean) {
    this.#has = has;
  }

  add(job: Job): void {
    const shelf = this.#byPrincipal.get(job.principal) ?? { ids: [], gone: 0 };
    this.#byPrincipal.set(job.principal, shelf);
    const last = shelf.ids.at(-1);
    if (last === undefined || last < job.id) shelf.ids.push(job.id);
    else {
      const place = firstAfter(shelf.ids, job.id);
      // One that was deleted and comes back stands there still.
      if (shelf.ids[place - 1] === job.id) shelf.gone -= 1;
      else shelf.ids.splice(place, 0, job.id);
    }
    this.#addKey(job);
  }

  /** The job is no longer there. */
  delete(job: Job): void {
    this.dropKey(job);
    const shelf = this.#byPrincipal.get(job.principal);
    if (!shelf) return;
    shelf.gone += 1;
    if (shelf.gone === shelf.ids.length) this.#byPrincipal.delete(job.principal);
    else if (shelf.gone > 64 && shelf.gone * 2 > shelf.ids.length) {
      shelf.ids = shelf.ids.filter(this.#has);
      shelf.gone = 0;
    }
  }

  /** The ids of a principal's jobs after one of them, in order. */
  *after(principal: string, id: string | undefined): Generator<string> {
    const ids = this.#byPrincipal.get(principal)?.ids ?? [];
    for (let at = id === undefined ? 0 : firstAfter(ids, id); at < ids.length; at += 1) {
      const found = ids[at] ?? "";
      if (this.#has(found)) yield found;
    }
  }

  principals(): IterableIterator<string> {
    return this.#byPrincipal.keys();
  }

  byKey(principal: string, key: string): string | undefined {
    return this.#byKey.get(nameOf(principal, key));
  }

  keyCount(principal: string): number {
    return this.#keys.get(principal) ?? 0;
  }

  holdsKey(job: Job): boolean {
    return job.key !== undefined && this.byKey(job.principal, job.key) === job.id;
  }

  dropKey(job: Job): void {
    if (job.key === undefined || !this.holdsKey(job)) return;
    this.#byKey.delete(nameOf(job.principal, job.key));
    const left = this.keyCount(job.principal) - 1;
    if (left === 0) this.#keys.delete(job.principal);
    else this.#keys.set(job.principal, left);
  }

  /** A key whose time is over may be used again: the later job has it. */
  #addKey({ id, principal, key }: Job): void {
    if (key === undefined) return;
    const name = nameOf(principal, key);
    if (!this.#byKey.has(name)) this.#keys.set(principal, this.keyCount(principal) + 1);
    this.#byKey.set(name, id);
  }
}

function nameOf(principal: string, key: string): string {
  return `${principal}\0${key}`;
}

/** The place of the first id that comes after this one. */
function firstAfter(ids: readonly string[], id: string): number {
  let low = 0;
  let high = ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ids[middle] ?? "") <= id) low = middle + 1;
    else high = middle;
  }
  return low;
}
