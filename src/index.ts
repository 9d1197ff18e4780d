/** The library: the engine with its stores, the client of a daemon, and the words they speak. */
export {
  connect,
  type Client,
  type ClientOptions as ConnectOptions,
  type GetOptions,
  type PostOptions,
} from "./wires/api/client/client.ts";
export type {
  ConnectionState,
  DaemonEvent,
  EventsOptions,
  Resync,
  StreamItem,
} from "./wires/api/client/events.ts";
export type { Agent, AgentCard, AgentStatus, Capability, DeathCause } from "./core/agents.ts";
export { LIBRARY, type By, type Wire } from "./core/by.ts";
export type { Election } from "./core/elections.ts";
export { codeOf, RollcallError, wireCodes, type CodeRow, type ErrorCode } from "./core/errors.ts";
export type { Event, RecordedEvent, Topic } from "./core/events.ts";
export type { Lease } from "./core/leases.ts";
export type { Policy } from "./core/policies.ts";
export type { Command, ReplyTo } from "./core/rules.ts";
export type { State } from "./core/state.ts";
export type { Claim, Task, TaskStatus } from "./core/tasks.ts";
export { Engine, type EngineMode } from "./engine/engine.ts";
export type { EngineOptions } from "./engine/options.ts";
export type { Watch, WatchItem, WatchOptions } from "./engine/watch.ts";
export type { Streams } from "./log/streams.ts";
export type { Log } from "./log/log.ts";
export { MemoryMedium, memoryStore, type MemoryStoreOptions } from "./log/memory/store.ts";
export { natsStore, type NatsStoreOptions } from "./log/nats/store.ts";
export { postgresStore, type PostgresStoreOptions } from "./log/postgres/store.ts";
export { sqliteStore, type SqliteStoreOptions } from "./log/sqlite/store.ts";
export type { Store } from "./log/store.ts";
