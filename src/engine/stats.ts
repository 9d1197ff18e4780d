/** The engine's counters, for metrics. Plain numbers: reading them costs nothing. */
import type { RecordedEvent, Topic } from "../core/events.ts";

export interface EngineStats {
  commands: number;
  refusals: number;
  heartbeats: number;
  appends: number;
  /** Durable events, by their topics. */
  readonly topics: Map<Topic, number>;
  /** Times the state was rebuilt after the log refused an append. */
  rebuilds: number;
  /** Times the log was found not to be the one that was read before. */
  divergences: number;
}

export function emptyStats(): EngineStats {
  return {
    commands: 0,
    refusals: 0,
    heartbeats: 0,
    appends: 0,
    topics: new Map(),
    rebuilds: 0,
    divergences: 0,
  };
}

/** A batch became durable. */
export function countBatch(stats: EngineStats, recorded: readonly RecordedEvent[]): void {
  const { topics } = stats;
  stats.appends += 1;
  for (const { event } of recorded) topics.set(event.type, (topics.get(event.type) ?? 0) + 1);
}
