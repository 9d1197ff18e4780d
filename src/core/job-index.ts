/**
 * Jobs by principal and all together, in the order of their ids, which is the order in which they
 * were made; and by idempotency key. A page begins after an id, so it costs a binary search
 * wherever it begins, and jobs that come and go between two pages neither repeat nor hide another.
 */
import type { Job } from "./jobs.ts";
import type { Sight } from "./visibility.ts";

/** Whether a job is there. */
type Has = (id: string) => boolean;

/** Ids in order. Those that are gone are skipped, until a new array is worth it. */
class Shelf {
  readonly #has: Has;
  #ids: string[] = [];
  #gone = 0;

  constructor(has: Has) {
    this.#has = has;
  }

  get isEmpty(): boolean {
    return this.#gone === this.#ids.length;
  }

  add(id: string): void {
    const last = this.#ids.at(-1);
    if (last === undefined || last < id) {
      this.#ids.push(id);
      return;
    }
    const place = firstAfter(this.#ids, id);
    // One that was deleted and comes back stands there still.
    if (this.#ids[place - 1] === id) this.#gone -= 1;
    else this.#ids.splice(place, 0, id);
  }

  /** One of them is no longer there. */
  delete(): void {
    this.#gone += 1;
    if (this.#gone <= 64 || this.#gone * 2 <= this.#ids.length) return;
    this.#ids = this.#ids.filter(this.#has);
    this.#gone = 0;
  }

  *after(id: string | undefined): Generator<string> {
    const ids = this.#ids;
    for (let at = id === undefined ? 0 : firstAfter(ids, id); at < ids.length; at += 1) {
      const found = ids[at] ?? "";
      if (this.#has(found)) yield found;
    }
  }
}

export class JobIndex {
  readonly #has: Has;
  readonly #all: Shelf;
  readonly #byPrincipal = new Map<string, Shelf>();
  readonly #byKey = new Map<string, string>();
  readonly #keys = new Map<string, number>();

  constructor(has: Has) {
    this.#has = has;
    this.#all = new Shelf(has);
  }

  add(job: Job): void {
    const shelf = this.#byPrincipal.get(job.principal) ?? new Shelf(this.#has);
    this.#byPrincipal.set(job.principal, shelf);
    shelf.add(job.id);
    this.#all.add(job.id);
    this.#addKey(job);
  }

  /** The job is no longer there. */
  delete(job: Job): void {
    this.dropKey(job);
    const shelf = this.#byPrincipal.get(job.principal);
    if (!shelf) return;
    this.#all.delete();
    shelf.delete();
    if (shelf.isEmpty) this.#byPrincipal.delete(job.principal);
  }

  /** The ids of the jobs that are seen, after one of them, in order. */
  after({ owner }: Sight, id: string | undefined): Iterable<string> {
    return (owner === undefined ? this.#all : this.#byPrincipal.get(owner))?.after(id) ?? [];
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
