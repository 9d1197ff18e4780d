/**
 * How principals share a limit, so that one that fills it does not keep the others out:
 *
 *   the user that runs the daemon, alone ──▶ all of it
 *   any other principal ───────────────────▶ half of what the others leave
 *
 * The first has at most a half, the second a quarter of all, and so on: there is room for one more,
 * however many there are. One person on one machine has no others, and nothing to share. What a
 * principal has already is never taken from it: it gets no more until it has less than its share.
 */
import { refuse, type Refusal } from "./decide.ts";
import { refusalError } from "./errors.ts";
import { COUNT } from "./limits.ts";
import { LOCAL } from "./principals.ts";

/** Something that there is only so much of, for all principals together. */
export interface SharedLimit {
  readonly limit: number;
  /** In the plural: "agents". */
  readonly noun: string;
}

/** Of one agent or one sender, and so of one principal: there is nobody to share it with. */
type OwnCount =
  | "leasesPerAgent"
  | "groupsPerAgent"
  | "claimsPerAgent"
  | "entriesPerSource"
  | "entryLengthPerSource";

/** Every other limit of the state. One that is not here does not compile. */
export const SHARED = {
  agents: { limit: COUNT.agents, noun: "agents" },
  leases: { limit: COUNT.leases, noun: "leases" },
  groups: { limit: COUNT.groups, noun: "election groups" },
  candidatesPerGroup: { limit: COUNT.candidatesPerGroup, noun: "candidates in the group" },
  policies: { limit: COUNT.policies, noun: "policies" },
  tokens: { limit: COUNT.tokens, noun: "tokens" },
  reports: { limit: COUNT.reports, noun: "reports" },
  entries: { limit: COUNT.entries, noun: "agents in the directory" },
  entriesPerOrigin: { limit: COUNT.entriesPerOrigin, noun: "agents of the origin" },
  entryLength: { limit: COUNT.entryLength, noun: "characters of cards" },
  unfinishedTasks: { limit: COUNT.unfinishedTasks, noun: "unfinished tasks" },
  unfinishedJobs: { limit: COUNT.unfinishedJobs, noun: "unfinished jobs" },
  taskBytes: { limit: COUNT.taskBytes, noun: "bytes of unfinished tasks" },
} as const satisfies Readonly<Record<Exclude<keyof typeof COUNT, OwnCount>, SharedLimit>>;

/** How much of something each principal has; of what the state holds, only evolve changes it. */
export class Holdings {
  readonly #byOwner = new Map<string, number>();
  #total = 0;

  get total(): number {
    return this.#total;
  }

  of(owner: string): number {
    return this.#byOwner.get(owner) ?? 0;
  }

  add(owner: string, amount = 1): void {
    const own = this.of(owner) + amount;
    this.#total += amount;
    if (own === 0) this.#byOwner.delete(owner);
    else this.#byOwner.set(owner, own);
  }

  remove(owner: string, amount = 1): void {
    this.add(owner, -amount);
  }

  /** Each owner with what it has, for those that check the count. */
  [Symbol.iterator](): IterableIterator<[string, number]> {
    return this.#byOwner.entries();
  }
}

/** A principal that wants more of something that is limited. */
export interface Wish {
  readonly owner: string;
  /** How much it has, and all have together. */
  readonly own: number;
  readonly total: number;
  /** How much more it wants; one unless set. */
  readonly more?: number;
}

/** How much of the limit a principal may have, as long as the others have what they have. */
export function shareOf(limit: number, { owner, own, total }: Omit<Wish, "more">): number {
  const others = total - own;
  if (owner === LOCAL.name && others === 0) return limit;
  return Math.max(0, Math.ceil((limit - others) / 2));
}

/** The refusal of a wish that goes beyond the share. */
export function beyondShare({ limit, noun }: SharedLimit, wish: Wish): Refusal | undefined {
  const { owner, own, more = 1 } = wish;
  const share = shareOf(limit, wish);
  if (own + more <= share) return undefined;
  const has = `${owner} already has ${own} ${noun}`;
  const reason =
    share === limit ? "that is the limit" : `its share of the limit ${limit} is ${share}`;
  return refuse("LIMIT_EXCEEDED", `${has}: ${reason}`);
}

/** Below half of a limit no share of it is reached, so nothing need be counted. */
export function isCrowded({ limit }: SharedLimit, total: number): boolean {
  return 2 * (total + 1) > limit;
}

/** The same at a door: throws the refusal. */
export function checkShare(shared: SharedLimit, wish: Wish): void {
  const refusal = beyondShare(shared, wish);
  if (refusal) throw refusalError(refusal);
}

/** The wish of one principal for one more, or for so much. */
export function wishOf(holdings: Holdings, owner: string, more = 1): Wish {
  return { owner, own: holdings.of(owner), total: holdings.total, more };
}
