export type { CardVersion } from "../../../directory/cards/card.ts";
export type { ListedVersion } from "../../../directory/cards/versions.ts";
export { codeOf, RollcallError, type ErrorCode } from "../../../core/errors.ts";
export type { Reach } from "../../../net/fetch/addresses.ts";
export type { FetchFailure } from "../../../net/fetch/fetcher.ts";
export { RegistryClient, type HeartbeatResult, type RegistryClientOptions } from "./client.ts";
export type { ListOptions } from "./listing.ts";
export type { Mounts } from "./mounts.ts";
export {
  MemoryRegistryProvider,
  type Awaitable,
  type RegisteredCard,
  type RegistryEntry,
  type RegistryProvider,
} from "./provider.ts";
export {
  RegistryServer,
  type RegistryAnswer,
  type RegistryRequest,
  type RegistryServerOptions,
} from "./server.ts";
export type { A2aCard as AgentCard, AgentInterface, AgentSkill } from "./types.ts";
