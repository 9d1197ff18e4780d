/** What the engine counts about itself, for metrics. Plain numbers: reading them costs nothing. */

export interface EngineStats {
  commands: number;
  refusals: number;
  heartbeats: number;
  appends: number;
  events: number;
  /** Times the state was rebuilt after the log refused an append. */
  rebuilds: number;
}

export function emptyStats(): EngineStats {
  return { commands: 0, refusals: 0, heartbeats: 0, appends: 0, events: 0, rebuilds: 0 };
}
