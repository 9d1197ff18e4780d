export { codeOf, RollcallError, type ErrorCode } from "../../../core/errors.ts";
export type { AcquireOptions } from "./acquire.ts";
export { type Agent } from "./agent.ts";
export type { Campaign, CampaignState, Leadership } from "./campaign.ts";
export type { KeeperEvent, OtherEvent, Resync, WatchItem } from "./events.ts";
export {
  connect,
  type AcquireForOptions,
  type ConnectOptions,
  type FindOptions,
  type Keeper,
  type RegisterOptions,
} from "./keeper.ts";
export type { Lease } from "./lease.ts";
export type { Access, Policies } from "./policies.ts";
export type { AgentState } from "./presence.ts";
export { decodeJson, encodeJson, type Claim, type ClaimRef, type NewTask } from "./tasks.ts";
export type { Tasks } from "./tasks.ts";
export type {
  AgentCard,
  AgentInfo,
  AgentStatus,
  Capability,
  ElectionState,
  LeaseInfo,
  Policy,
  Task,
  TaskStatus,
  Verdict,
} from "./types.ts";
export type { Watch, WatchOptions, WatchState } from "./watch.ts";
export type { CallOptions } from "./wire.ts";
export type { Handler, Outcome, WorkContext, Worker, WorkOptions } from "./work.ts";
