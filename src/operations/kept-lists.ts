/**
 * The order of each list, kept beside the state, so that a page costs what it shows wherever it
 * begins. What comes or goes is noted when it happens, and put into its place when somebody asks
 * for the list: a command pays for a note, and only while the list is asked for.
 *
 *   unmade ──asked for──▶ kept ──more came and went than there are, and nobody asked──▶ unmade
 */
import { byPlace, type ListPlace } from "../core/pages.ts";
import type { AgentEntry } from "../core/agents.ts";
import { ownerOf } from "../core/by.ts";
import type { DirectoryRecord } from "../core/directory.ts";
import type { GroupEntry } from "../core/elections.ts";
import type { Event } from "../core/events.ts";
import type { HostJob } from "../core/host-jobs.ts";
import { forgottenJobs, type Job } from "../core/jobs.ts";
import type { LeaseEntry } from "../core/leases.ts";
import type { Policy } from "../core/policies.ts";
import { SortedList } from "../core/sorted-list.ts";
import type { State } from "../core/state.ts";
import type { TaskEntry } from "../core/tasks.ts";
import type { TokenEntry } from "../core/tokens.ts";
import { seesJob, seesTask, type Sight } from "../core/visibility.ts";
import type { Engine } from "../engine/engine.ts";
import type { Observer } from "../engine/observer.ts";
import { LIST } from "./limits.ts";

/** A map, or several that have no key in common. */
interface ListItems<Item> {
  get(key: string): Item | undefined;
  keys(): Iterable<string>;
}

interface KeptListSource<Item> {
  readonly items: (state: State) => ListItems<Item>;
  /** Of the items, those that are in the list: all unless told otherwise. */
  readonly isIn?: (item: Item, state: State) => boolean;
  /** The keys of those that may be in the list: all unless told otherwise. */
  readonly keys?: (state: State) => Iterable<string>;
  /** In a list by name: the name, which its place begins with. */
  readonly name?: (item: Item) => string;
  /** The moment of an item's place, or a number that grows like it; none in lists by key alone. */
  readonly atMs?: (item: Item) => number;
}

/** Where the items of a name stand in a list by name. */
export function placeOfName(name: string): string {
  return `${name}\0`;
}

/** A job of this daemon, or one that an outpost tells of. */
export interface KeptJob {
  readonly job: Job | HostJob;
}

function allJobs({ jobs, hostJobs }: State): ListItems<KeptJob> {
  return {
    get: (id) => jobs.byId.get(id) ?? hostJobs.byId.get(id),
    *keys() {
      yield* jobs.byId.keys();
      yield* hostJobs.byId.keys();
    },
  };
}

/** Owners whose lists are kept; one that comes back after so many others waits for its list. */
const OWNERS = 100;
/** Notes of fewer are kept in any case. */
const NOTES = 10_000;

export class KeptList<Item> {
  readonly #listed: KeptListSource<Item>;
  readonly #places = new SortedList<ListPlace>(byPlace);
  #isKept = false;
  #unread: Iterator<string> | undefined;
  /** Items that came or went, each with the place that it had before. */
  readonly #touched = new Map<string, ListPlace | undefined>();

  constructor(listed: KeptListSource<Item>) {
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
    this.#touched.set(key, this.#placeOf(key, state));
    if (this.#touched.size > Math.max(NOTES, this.size)) this.forget();
  }

  /** Puts items into their places, up to so many. */
  update(state: State, most = Infinity): void {
    if (!this.#isKept) {
      this.#isKept = true;
      const { keys = (all: State) => this.#listed.items(all).keys() } = this.#listed;
      this.#unread = keys(state)[Symbol.iterator]();
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

  /** Nothing for one that is no longer in the list, and was not told of. */
  item(state: State, { key }: ListPlace): Item | undefined {
    const { items, isIn, name } = this.#listed;
    const item = items(state).get(name ? key.slice(key.lastIndexOf("\0") + 1) : key);
    return item === undefined || isIn?.(item, state) === false ? undefined : item;
  }

  /** The places behind one, or all. In a list by key alone: of those keys that begin so. */
  *after(place: ListPlace | undefined, prefix = ""): Generator<ListPlace> {
    const isBehind = (each: ListPlace) => !place || byPlace(each, place) > 0;
    for (const each of this.#places.from((at) => isBehind(at) && at.key >= prefix)) {
      if (!each.key.startsWith(prefix)) return;
      yield each;
    }
  }

  /** The last of the items that count, the last first; few of those behind may not. */
  newest(state: State, most: number, counts: (item: Item) => boolean = () => true): Item[] {
    const found: Item[] = [];
    let looked = 0;
    for (const place of this.#places.backwards()) {
      if (found.length >= most || (looked += 1) > LIST.atOnce) break;
      const item = this.item(state, place);
      if (item !== undefined && counts(item)) found.push(item);
    }
    return found;
  }

  /** In a list by key alone: how many keys begin so. */
  count(prefix: string): number {
    const isPast = ({ key }: ListPlace) => key >= prefix && !key.startsWith(prefix);
    const before = this.#places.countBefore(({ key }) => key >= prefix);
    return this.#places.countBefore(isPast) - before;
  }

  #put(state: State, key: string): void {
    const place = this.#placeOf(key, state);
    if (place) this.#places.add(place);
  }

  #placeOf(key: string, state: State): ListPlace | undefined {
    const { items, isIn, atMs, name } = this.#listed;
    const item = items(state).get(key);
    if (item === undefined || isIn?.(item, state) === false) return undefined;
    return { atMs: atMs?.(item) ?? 0, key: name ? placeOfName(name(item)) + key : key };
  }
}

export class KeptLists implements Observer {
  readonly agentNames = new KeptList<AgentEntry>({
    items: ({ agents }) => agents.byId,
    name: ({ agent }) => agent.card.name,
  });
  readonly agents = new KeptList<AgentEntry>({
    items: ({ agents }) => agents.byId,
    atMs: ({ agent }) => agent.registeredAtMs,
  });
  readonly living = new KeptList<AgentEntry>({
    items: ({ agents }) => agents.byId,
    isIn: ({ agent }) => agent.status !== "dead",
    atMs: ({ agent }) => agent.registeredAtMs,
  });
  readonly leases = new KeptList<LeaseEntry>({ items: ({ leases }) => leases.byTask });
  readonly elections = new KeptList<GroupEntry>({ items: ({ elections }) => elections.byGroup });
  /** The same by when they were acquired (tokens only ever grow), and elected. */
  readonly recentLeases = new KeptList<LeaseEntry>({
    items: ({ leases }) => leases.byTask,
    atMs: ({ lease }) => lease.token,
  });
  readonly recentLeaders = new KeptList<GroupEntry>({
    items: ({ elections }) => elections.byGroup,
    atMs: ({ election }) => election.electedAtMs,
  });
  readonly policies = new KeptList<Policy>({ items: ({ policies }) => policies.byId });
  readonly tokens = new KeptList<TokenEntry>({ items: ({ tokens }) => tokens.byName });
  readonly tasks = new KeptList<TaskEntry>({
    items: ({ tasks }) => tasks.byId,
    atMs: ({ task }) => task.createdAtMs,
  });
  readonly jobs = new KeptList<KeptJob>({
    items: allJobs,
    atMs: ({ job }) => job.submittedAtMs,
  });
  readonly directory = new KeptList<DirectoryRecord>({
    items: ({ directory }) => directory.byUrl,
    atMs: ({ entry }) => entry.registeredAtMs,
  });

  readonly #tasksOf = new Map<string, KeptList<TaskEntry>>();
  readonly #jobsOf = new Map<string, KeptList<KeptJob>>();

  replaced(): void {
    for (const list of Object.values(this) as readonly KeptList<unknown>[]) list.forget();
    this.#tasksOf.clear();
    this.#jobsOf.clear();
  }

  /** The tasks that are seen: an owner's among a million cost what the owner's cost. */
  tasksSeen(sight: Sight): KeptList<TaskEntry> {
    const { owner } = sight;
    if (owner === undefined) return this.tasks;
    return listOf(this.#tasksOf, owner, {
      items: ({ tasks }) => tasks.byId,
      atMs: ({ task }) => task.createdAtMs,
      isIn: ({ task }, state) => seesTask(sight, state, task),
    });
  }

  /** Those that outposts tell of are seen only by callers that see everything. */
  jobsSeen(sight: Sight): KeptList<KeptJob> {
    const { owner } = sight;
    if (owner === undefined) return this.jobs;
    return listOf(this.#jobsOf, owner, {
      items: ({ jobs }) => jobs.byId,
      keys: ({ jobs }) => jobs.index.after(sight, undefined),
      atMs: ({ job }) => job.submittedAtMs,
      isIn: ({ job }) => seesJob(sight, job),
    });
  }

  before(event: Event, state: State): void {
    switch (event.type) {
      case "agent.registered":
        this.living.touch(event.agent.agentId, state);
        this.agentNames.touch(event.agent.agentId, state);
        return this.agents.touch(event.agent.agentId, state);
      case "agent.died":
        return this.living.touch(event.agent.agentId, state);
      case "agent.forgotten":
        this.agentNames.touch(event.agentId, state);
        return this.agents.touch(event.agentId, state);
      case "lease.acquired":
      case "lease.released":
      case "lease.expired":
        this.leases.touch(event.lease.taskId, state);
        return this.recentLeases.touch(event.lease.taskId, state);
      case "leader.changed":
        return this.recentLeaders.touch(event.election.group, state);
      case "election.joined":
      case "election.forgotten":
        this.elections.touch(event.group, state);
        return this.recentLeaders.touch(event.group, state);
      case "policy.set":
        return this.policies.touch(event.policy.id, state);
      case "policy.deleted":
        return this.policies.touch(event.id, state);
      case "token.created":
        return this.tokens.touch(event.token.name, state);
      case "token.forgotten":
        return this.tokens.touch(event.name, state);
      case "task.created":
        this.#tasksOf.get(ownerOf(event.task))?.touch(event.task.id, state);
        return this.tasks.touch(event.task.id, state);
      case "task.claimed":
        return this.#touchTask(event.taskId, state, event.claim.agentId);
      case "task.completed":
      case "task.requeued":
      case "task.returned":
      case "task.died":
      case "task.cancelled":
        return this.#touchTask(event.taskId, state, event.agentId);
      case "task.forgotten":
        this.#touchTask(event.taskId, state);
        return this.tasks.touch(event.taskId, state);
      case "job.submitted":
      case "job.imported":
        this.#jobsOf.get(event.job.principal)?.touch(event.job.id, state);
        return this.jobs.touch(event.job.id, state);
      case "job.forgotten":
        for (const jobId of forgottenJobs(event)) this.#touchJob(jobId, state);
        return;
      case "outpost.job_told":
        return this.jobs.touch(event.job.id, state);
      case "outpost.jobs_forgotten":
        for (const jobId of event.jobIds) this.jobs.touch(jobId, state);
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

  /** It is shown to its creator, and to the owner of the agent that claims it or did. */
  #touchTask(taskId: string, state: State, agentId?: string): void {
    if (this.#tasksOf.size === 0) return;
    const task = state.tasks.byId.get(taskId)?.task;
    if (!task) return;
    this.#tasksOf.get(ownerOf(task))?.touch(taskId, state);
    for (const each of [task.claimedBy, agentId ?? ""]) {
      const agent = state.agents.byId.get(each)?.agent;
      if (agent) this.#tasksOf.get(ownerOf(agent))?.touch(taskId, state);
    }
  }

  #touchJob(jobId: string, state: State): void {
    const job = state.jobs.byId.get(jobId)?.job;
    if (job) this.#jobsOf.get(job.principal)?.touch(jobId, state);
    this.jobs.touch(jobId, state);
  }
}

/** The list of an owner; the one that was made first makes room. */
function listOf<Item>(
  lists: Map<string, KeptList<Item>>,
  owner: string,
  listed: KeptListSource<Item>,
): KeptList<Item> {
  const known = lists.get(owner);
  if (known) return known;
  const [oldest] = lists.keys();
  if (oldest !== undefined && lists.size >= OWNERS) lists.delete(oldest);
  const made = new KeptList(listed);
  lists.set(owner, made);
  return made;
}

const lists = new WeakMap<object, KeptLists>();

/** The lists of an engine, from the first time that one of them is asked for. */
export function listsOf(engine: Pick<Engine, "observers">): KeptLists {
  const known = lists.get(engine.observers);
  if (known) return known;
  const made = new KeptLists();
  lists.set(engine.observers, made);
  engine.observers.add(made);
  return made;
}
