export { codeOf, RollcallError, type ErrorCode } from "../../../core/errors.ts";
export type { AcquireOptions } from "./acquire.ts";
export { type KeeperAgent as Agent } from "./agent.ts";
export type { Campaign, CampaignState, LeaderTerm as Leadership } from "./campaign.ts";
export type {
  KeeperEvent,
  OtherEvent,
  KeeperResync as Resync,
  KeeperWatchItem as WatchItem,
} from "./events.ts";
export {
  connect,
  type AcquireForOptions,
  type KeeperConnectOptions as ConnectOptions,
  type FindOptions,
  type Keeper,
  type RegisterOptions,
} from "./keeper.ts";
export type { LeaseHandle as Lease } from "./lease.ts";
export type { AccessRequest as Access } from "../../../core/policies.ts";
export type { KeeperPolicies as Policies } from "./policies.ts";
export type { AgentState } from "./presence.ts";
export {
  decodeJson,
  encodeJson,
  type KeeperClaim as Claim,
  type ClaimRef,
  type NewTask,
} from "./tasks.ts";
export type { KeeperTasks as Tasks } from "./tasks.ts";
export type {
  AgentCard,
  AgentInfo,
  AgentStatus,
  Capability,
  ElectionState,
  LeaseInfo,
  Policy,
  KeeperTask as Task,
  TaskStatus,
  PolicyVerdict as Verdict,
} from "./types.ts";
export type {
  KeeperWatch as Watch,
  KeeperWatchOptions as WatchOptions,
  WatchState,
} from "./watch.ts";
export type { KeeperCallOptions as CallOptions } from "./wire.ts";
export type {
  WorkHandler as Handler,
  WorkOutcome as Outcome,
  WorkContext,
  Worker,
  WorkOptions,
} from "./work.ts";
