/** Handlers that a wire puts behind the HTTP door, by path, each with the access it needs. */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { By } from "../core/by.ts";
import type { GuardedHandler, Route, WholeAnswer } from "../wires/route.ts";

export type HotHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  by: By,
) => void | Promise<void>;

export type SwiftHandler = (
  request: IncomingMessage,
  body: Buffer,
  by: By,
) => WholeAnswer | Promise<WholeAnswer>;

export interface Upgrade {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  /** NOBODY where the credential comes in the first frame. */
  readonly by: By;
  /** Counts the connection to its principal; throws where that has its share already. */
  claim(principal: string): void;
}

export type UpgradeHandler = (upgrade: Upgrade) => void;

/** All but the answers to anybody need an access, and the door asks for it. */
export interface Mount {
  /** Answers to every caller, without credentials: for probes. They tell nothing but one word. */
  readonly anybody?: Readonly<Record<string, () => WholeAnswer>>;
  readonly hot?: Readonly<Record<string, GuardedHandler<HotHandler>>>;
  readonly swift?: Readonly<Record<string, GuardedHandler<SwiftHandler>>>;
  readonly upgrades?: Readonly<Record<string, GuardedHandler<UpgradeHandler>>>;
  readonly routes?: readonly Route[];
}
