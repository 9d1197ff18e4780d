/** The state in memory and the sequence it stands at, brought up from the log. */
import { decode, type Recorded } from "../core/events.ts";
import type { Rules } from "../core/rules.ts";
import { restore } from "../core/snapshot.ts";
import { emptyState, type State } from "../core/state.ts";
import type { Log, LogBatch } from "../log/log.ts";

export interface Replica {
  readonly state: State;
  head: number;
}

/** Rebuilds the state: the newest snapshot, then what came after. */
export async function load(log: Log, rules: Rules): Promise<Replica> {
  const snapshot = await log.loadSnapshot(Infinity);
  const replica: Replica = {
    state: snapshot ? await restore(snapshot.chunks) : emptyState(),
    head: snapshot?.sequence ?? 0,
  };
  for await (const batch of log.read(replica.head)) apply(replica, rules, batch);
  return replica;
}

export function selected<T>(
  { state, head }: Replica,
  select: (state: State, sequence: number) => T,
): T {
  return select(state, head);
}

/** Takes in what is new of a batch and gives it back, decoded. */
export function apply(replica: Replica, rules: Rules, { first, entries }: LogBatch): Recorded[] {
  const fresh: Recorded[] = [];
  for (let i = Math.max(0, replica.head + 1 - first); i < entries.length; i += 1) {
    const recorded = decode(entries[i] ?? "", first + i);
    rules.evolve(replica.state, recorded.event, recorded.atMs);
    replica.head = recorded.sequence;
    fresh.push(recorded);
  }
  return fresh;
}
