/** The options of an engine: a log, a name, time, randomness and listeners. */
import { randomUUID } from "node:crypto";
import { rules, type Rules } from "../core/rules.ts";
import type { Failover } from "../core/limits.ts";
import type { Log } from "../log/log.ts";
import type { Clock } from "../core/clock.ts";
import { systemClock } from "../machine/clock.ts";
import type { Audit } from "./audit.ts";
import type { Companion } from "./companion.ts";
import type { Forwarder } from "./forward.ts";
import type { KnownLog } from "./known-log.ts";
import type { Retention } from "./snapshots.ts";

export interface EngineOptions {
  readonly log: Log;
  /** This node's name, unique among those that share the log; "solo" where none does. */
  readonly node?: string;
  /** Of this node as a member: kept with its files, the same after a restart. */
  readonly instance?: string;
  /** False: it follows and answers, and never claims to lead. */
  readonly mayLead?: boolean;
  /** Ids that cannot be guessed: 32 lower-case hex characters. */
  readonly newId?: () => string;
  /** From 0 to 1: keeps nodes from trying to lead in the same moment. */
  readonly random?: () => number;
  readonly clock?: Clock;
  /** How soon another node leads when the one that leads falls silent: FAILOVER has the times. */
  readonly failover?: Failover;
  readonly forwarder?: Forwarder;
  readonly rules?: Rules;
  readonly companion?: Companion;
  readonly retention?: Partial<Retention>;
  /** What an earlier process of this node saw of the log: it must still be there. */
  readonly known?: KnownLog | undefined;
  /** Starts, and goes on, with a log that has lost what this node knows of it. */
  readonly acceptLoss?: boolean;
  /** Takes what belongs into the audit. */
  readonly audit?: Audit | undefined;
  readonly onAppend?: (events: number, tookMs: number) => void;
  /** Something failed and is being dealt with: for the operator. */
  readonly onTrouble?: (what: string, error: unknown) => void;
}

export const DEFAULTS = {
  node: "solo",
  instance: "",
  mayLead: true,
  newId: () => randomUUID().replaceAll("-", ""),
  random: () => Math.random(),
  clock: systemClock,
  rules,
  acceptLoss: false,
  failover: "fast" as Failover,
};
