/** How the client and the small registry of A2A pace themselves, each number with its reason. */
import { MIB, SECOND } from "../../../core/units.ts";

export const BEAT = {
  /** For one answer, as the peer has it. */
  answerMs: 10 * SECOND,
  /** Taken off the interval at random, so that a thousand agents do not speak at once. */
  jitter: 0.1,
  /** After a failure, doubled each time up to the interval itself. */
  firstRetryMs: 1 * SECOND,
  /** Of a registry's list: some thousand cards. */
  listBytes: 64 * MIB,
  answerBytes: 1 * MIB,
  /** Of one listing: more than a registry has agents. Links that lead in a circle end here. */
  pages: 100_000,
  /** Of a registration token; ours have 43 characters. */
  tokenLength: 512,
} as const;

export const REGISTRY_DEFAULTS = {
  /** An agent is gone after so many intervals of silence, at the next sweep. */
  staleMultiplier: 3,
  cleanupIntervalS: 30,
  fetchTimeoutS: 10,
  /** Of the store in memory: as many as one process lists in one answer. */
  agents: 10_000,
  /** The size of all cards together: 10,000 of the usual 2 KiB are 20 MiB. */
  bytes: 64 * MIB,
} as const;
