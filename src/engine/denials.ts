/**
 * Denials, counted, so that a flood of them is a few entries of the audit: the first of a kind is
 * due at once, those that repeat it when the window ends, as one with their count.
 */
import type { AuditEntry } from "../core/audit.ts";
import type { Clock } from "../core/clock.ts";

/** Counted since it was last taken. */
type Denial = { -readonly [Field in keyof AuditEntry]: AuditEntry[Field] };

export interface DenialsOptions {
  readonly clock: Clock;
  readonly countedMs: number;
  /** Kinds that are told apart within that time; the rest is one entry. */
  readonly most: number;
  /** The same of one principal, whose rest is an entry with its name; as many unless told. */
  readonly mostOfOne?: number;
  /** The window is over: what was counted can be taken. */
  readonly onEnd: () => void;
}

/** All but what is counted. */
export type DenialFacts = Omit<AuditEntry, "atMs" | "outcome" | "count">;

const THE_REST: DenialFacts = {
  by: { principal: "", wire: "", peer: "" },
  action: "",
  target: "",
  reason: "more callers than are told apart",
};

function restOf(principal: string): DenialFacts {
  const reason = "more wires, peers and actions of this caller than are told apart";
  return { ...THE_REST, by: { principal, wire: "", peer: "" }, reason };
}

export class Denials {
  readonly #options: DenialsOptions;
  readonly #byKind = new Map<string, Denial>();
  /** How many of them each principal has, by its name. */
  readonly #kindsOf = new Map<string, number>();
  #stopCounting: () => void = () => undefined;

  constructor(options: DenialsOptions) {
    this.#options = options;
  }

  /** Whether it is the first of its kind. */
  add(kind: string, facts: DenialFacts): boolean {
    const { key, shown } = this.#toldApart(kind, facts);
    const atMs = this.#options.clock.wallMs();
    const known = this.#byKind.get(key);
    if (known) {
      if (known.count === 0) known.atMs = atMs;
      known.count += 1;
      return false;
    }
    if (this.#byKind.size === 0) this.#begin();
    this.#byKind.set(key, { ...shown, atMs, outcome: "denied", count: 1 });
    const { principal } = facts.by;
    this.#kindsOf.set(principal, (this.#kindsOf.get(principal) ?? 0) + 1);
    return true;
  }

  /** As it is, or, where there are too many kinds, as the rest of its principal or of all. */
  #toldApart(kind: string, facts: DenialFacts): { key: string; shown: DenialFacts } {
    const { most, mostOfOne = most } = this.#options;
    const { principal } = facts.by;
    if (this.#byKind.has(kind)) return { key: kind, shown: facts };
    const isOwnFull = (this.#kindsOf.get(principal) ?? 0) >= mostOfOne;
    // No kind begins so: first comes the wire.
    const key = isOwnFull ? `\n${principal}` : kind;
    const isFull = this.#byKind.size >= most && !this.#byKind.has(key);
    if (isFull) return { key: "", shown: THE_REST };
    return { key, shown: isOwnFull ? restOf(principal) : facts };
  }

  get untaken(): readonly AuditEntry[] {
    return [...this.#byKind.values()].filter(({ count }) => count > 0);
  }

  /** The denials that were counted since the last call. */
  take(): readonly AuditEntry[] {
    const taken = this.untaken.map((denial) => ({ ...denial }));
    for (const denial of this.#byKind.values()) denial.count = 0;
    return taken;
  }

  /** Nothing is counted any longer. Idempotent. */
  close(): void {
    this.#stopCounting();
  }

  #begin(): void {
    const { clock, countedMs, onEnd } = this.#options;
    this.#stopCounting = clock.after(countedMs, () => {
      onEnd();
      this.#byKind.clear();
      this.#kindsOf.clear();
    });
  }
}
