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
import { RollcallError } from "./errors.ts";
import { LOCAL } from "./principals.ts";

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
  readonly limit: number;
  /** In the plural: "agents". */
  readonly noun: string;
  /** How much it has, and all have together. */
  readonly own: number;
  readonly total: number;
  /** How much more it wants; one unless set. */
  readonly more?: number;
}

/** How much of the limit a principal may have, as long as the others have what they have. */
export function shareOf({ owner, limit, own, total }: Omit<Wish, "noun" | "more">): number {
  const others = total - own;
  if (owner === LOCAL.name && others === 0) return limit;
  return Math.max(0, Math.ceil((limit - others) / 2));
}

/** The refusal of a wish that goes beyond the share. */
export function beyondShare(wish: Wish): Refusal | undefined {
  const { owner, limit, noun, own, more = 1 } = wish;
  const share = shareOf(wish);
  if (own + more <= share) return undefined;
  const has = `${owner} already has ${own} ${noun}`;
  const reason =
    share === limit ? "that is the limit" : `its share of the limit ${limit} is ${share}`;
  return refuse("LIMIT_EXCEEDED", `${has}: ${reason}`);
}

/** The same at a door: throws the refusal. */
export function checkShare(wish: Wish): void {
  const refusal = beyondShare(wish);
  if (refusal) throw new RollcallError(refusal.code, refusal.reason);
}

/** What `beyondShare` wants to know of one principal. */
export function holdingOf(
  holdings: Holdings,
  owner: string,
): Pick<Wish, "owner" | "own" | "total"> {
  return { owner, own: holdings.of(owner), total: holdings.total };
}
