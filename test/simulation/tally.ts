/** What happened in many lives, counted: faults that never happen prove nothing. */
import type { Life } from "./simulate.ts";

type LifeCounts = Pick<Life, "virtualMs" | "steps" | "counts">;

export interface Tally {
  readonly lives: number;
  readonly virtualMs: number;
  readonly steps: number;
  readonly counts: ReadonlyMap<string, number>;
  add(life: LifeCounts): void;
  table(): string;
}

export function tally(): Tally {
  const counts = new Map<string, number>();
  const total = { lives: 0, virtualMs: 0, steps: 0 };
  return {
    get lives() {
      return total.lives;
    },
    get virtualMs() {
      return total.virtualMs;
    },
    get steps() {
      return total.steps;
    },
    counts,
    add(life) {
      total.lives += 1;
      total.virtualMs += life.virtualMs;
      total.steps += life.steps;
      for (const [name, count] of life.counts) counts.set(name, (counts.get(name) ?? 0) + count);
    },
    table: () => tableOf(counts),
  };
}

/** One line per kind: "fault    crash 12, pause 3, …". */
function tableOf(counts: ReadonlyMap<string, number>): string {
  const kinds = new Map<string, string[]>();
  for (const [name, count] of [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const [kind = "", what = ""] = name.split(": ");
    kinds.set(kind, [...(kinds.get(kind) ?? []), `${what} ${count}`]);
  }
  return [...kinds].map(([kind, parts]) => `${kind.padEnd(9)} ${parts.join(", ")}`).join("\n");
}
