/**
 * The order of each list, kept beside the state, so that a page costs what it shows wherever it
 * begins. What comes or goes is noted when it happens, and put into its place when somebody asks
 * for the list: a command pays for a note, and only while the list is asked for.
 *
 *   unmade ──asked for──▶ kept ──more came and went than there are, and nobody asked──▶ unmade
 */
import type { AgentEntry } from "../core/agents.ts";
import type { DirectoryRecord } from "../core/directory.ts";
import type { GroupEntry } from "../core/elections.ts";
import type { Event } from "../core/events.ts";
import { forgottenJobs, type JobEntry } from "../core/jobs.ts";
import type { LeaseEntry } from "../core/leases.ts";
import type { Policy } from "../core/policies.ts";
import { SortedList } from "../core/sorted-list.ts";
import type { State } from "../core/state.ts";
import type { TaskEntry } from "../core/tasks.ts";
import type { TokenEntry } from "../core/tokens.ts";
import type { Engine } from "../engine/engine.ts";
import type { Observer } from "../engine/observer.ts";

/** Where an item stands: by a moment, which is 0 in lists by key alone, then by its key. */
export interface Place {
  readonly atMs: number;
  readonly key: string;
}

export function byPlace(a: Place, b: Place): number {
  return a.atMs - b.atMs || (a.key < b.key ? -1 : Number(a.key > b.key));
}

interface Listed<Item> {
  items(state: State): ReadonlyMap<string, Item>;
  /** The moment of an item's place; it never changes. None in lists by key alone. */
  atMs?(item: Item): number;
}

/** Notes of fewer are kept in any case. */
const NOTES = 10_000;

export class KeptList<Item> {
  readonly #listed: Listed<Item>;
  readonly #places = new SortedList<Place>(byPlace);
  #isKept = false;
  #unread: Iterator<string> | undefined;
  /** What came or went, with the place that it had before. */
  readonly #touched = new Map<string, Place | undefined>();

  constructor(listed: Listed<Item>) {
    this.#listed = listed;
  }

  get size(): number {
    return this.#places.size;
  }

  /** How many items wait to be put into their place. */
  get waiting(): number {
    return this.#isKept && !this.#unread ? this.#touched.size : Infinity;
  }

  forget(): void {
    this.#isKept = false;
    this.#places.clear();
    this.#touched.clear();
  }

  /** An item is about to come or go. */
  touch(key: string, state: State): void {
    if (!this.#isKept || this.#touched.has(key)) return;
    const item = this.#listed.items(state).get(key);
    this.#touched.set(key, item && this.#placeOf(key, item));
    if (this.#touched.size > Math.max(NOTES, this.size)) this.forget();
  }

  /** Puts items into their places, up to so many. */
  update(state: State, most = Infinity): void {
    if (!this.#isKept) {
      this.#isKept = true;
      this.#unread = this.#listed.items(state).keys();
    }
    let left = most;
    for (const [key, before] of this.#touched) {
      if (left <= 0) return;
      left -= 1;
      this.#touched.delete(key);
      if (before) this.#places.delete(before);
      this.#put(state, key);
    }
    for (; this.#unread && left > 0; left -= 1) {
      const next = this.#unread.next();
      if (next.done) this.#unread = undefined;
      else this.#put(state, next.value);
    }
  }

  item(state: State, { key }: Place): Item | undefined {
    return this.#listed.items(state).get(key);
  }

  /** The places behind one, or all. In a list by key alone: of those keys that begin so. */
  *after(place: Place | undefined, prefix = ""): Generator<Place> {
    const isBehind = (each: Place) => !place || byPlace(each, place) > 0;
    for (const each of this.#places.from((at) => isBehind(at) && at.key >= prefix)) {
      if (!each.key.startsWith(prefix)) return;
      yield each;
    }
  }

  /** In a list by key alone: how many keys begin so. */
  count(prefix: string): number {
    const isPast = ({ key }: Place) => key >= prefix && !key.startsWith(prefix);
    const before = this.#places.countBefore(({ key }) => key >= prefix);
    return this.#places.countBefore(isPast) - before;
  }

  #put(state: State, key: string): void {
    const item = this.#listed.items(state).get(key);
    if (item !== undefined) this.#places.add(this.#placeOf(key, item));
  }

  #placeOf(key: string, item: Item): Place {
    return { atMs: this.#listed.atMs?.(item) ?? 0, key };
  }
}

export class KeptLists implements Observer {
  readonly agents = new KeptList<AgentEntry>({
    items: ({ agents }) => agents.byId,
    atMs: ({ agent }) => agent.registeredAtMs,
  });
  readonly leases = new KeptList<LeaseEntry>({ items: ({ leases }) => leases.byTask });
  readonly elections = new KeptList<GroupEntry>({ items: ({ elections }) => elections.byGroup });
  readonly policies = new KeptList<Policy>({ items: ({ policies }) => policies.byId });
  readonly tokens = new KeptList<TokenEntry>({ items: ({ tokens }) => tokens.byName });
  readonly tasks = new KeptList<TaskEntry>({
    items: ({ tasks }) => tasks.byId,
    atMs: ({ task }) => task.createdAtMs,
  });
  readonly jobs = new KeptList<JobEntry>({
    items: ({ jobs }) => jobs.byId,
    atMs: ({ job }) => job.submittedAtMs,
  });
  readonly directory = new KeptList<DirectoryRecord>({
    items: ({ directory }) => directory.byUrl,
    atMs: ({ entry }) => entry.registeredAtMs,
  });

  replaced(): void {
    const { agents, leases, elections, policies, tokens, tasks, jobs, directory } = this;
    for (const list of [agents, leases, elections, policies, tokens, tasks, jobs, directory]) {
      list.forget();
    }
  }

  before(event: Event, state: State): void {
    switch (event.type) {
      case "agent.registered":
        return this.agents.touch(event.agent.agentId, state);
      case "agent.forgotten":
        return this.agents.touch(event.agentId, state);
      case "lease.acquired":
      case "lease.released":
      case "lease.expired":
        return this.leases.touch(event.lease.taskId, state);
      case "election.joined":
      case "election.forgotten":
        return this.elections.touch(event.group, state);
      case "policy.set":
        return this.policies.touch(event.policy.id, state);
      case "policy.deleted":
        return this.policies.touch(event.id, state);
      case "token.created":
        return this.tokens.touch(event.token.name, state);
      case "token.forgotten":
        return this.tokens.touch(event.name, state);
      case "task.created":
        return this.tasks.touch(event.task.id, state);
      case "task.forgotten":
        return this.tasks.touch(event.taskId, state);
      case "job.submitted":
      case "job.imported":
        return this.jobs.touch(event.job.id, state);
      case "job.forgotten":
        for (const jobId of forgottenJobs(event)) this.jobs.touch(jobId, state);
        return;
      case "directory.registered":
        return this.directory.touch(event.entry.url, state);
      case "directory.evicted":
      case "directory.removed":
        return this.directory.touch(event.url, state);
      default:
      // All other events change items where they stand.
    }
  }
}

const lists = new WeakMap<object, KeptLists>();

/** Those of an engine, from the first time that one of them is asked for. */
export function listsOf(engine: Pick<Engine, "observers">): KeptLists {
  const known = lists.get(engine.observers);
  if (known) return known;
  const made = new KeptLists();
  lists.set(engine.observers, made);
  engine.observers.add(made);
  return made;
}
