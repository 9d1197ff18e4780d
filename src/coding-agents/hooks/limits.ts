/** The bounds of what coding agents tell us, each with its reason. */
import { HOUR, KIB, MIB, SECOND } from "../../core/units.ts";

export const PAYLOAD = {
  /** A tool's whole answer may be in it; beyond, reading it would take longer than a hook may. */
  bytes: 32 * MIB,
  /** Hosts write all at once; a pipe that stays open and empty for so long is a mistake. */
  patienceMs: 2 * SECOND,
  /** As long as session ids, names of models, tools and modes ever are, and more. */
  nameLength: 128,
  /** An error that a model's server answered, as far as it is looked into. */
  messageLength: 4 * KIB,
} as const;

export const TEXT = {
  /** The length of a prompt that readers of the format show in a line. */
  summaryLength: 120,
  /** A question is read in full, a script that is to be run with all its lines. */
  questionLength: 1000,
  /** As many options as a person can choose from at a glance. */
  options: 8,
  optionLength: 80,
} as const;

export const SPOOL = {
  /** Each failed attempt is another hook's success; more in a row than hooks ever run at once. */
  rounds: 200,
  /** How long after another a hook that began before it may still report: the longest timeout. */
  lateMs: 30 * SECOND,
  /** Facts kept to be ordered anew when a late one comes; more than hooks run in that time. */
  recent: 512,
  /** Versions kept behind the latest, for those who are just reading one. */
  versions: 4,
  /** A draft or a claim older than this belongs to a process that was killed. */
  abandonedMs: 60 * SECOND,
  /** Facts read in one go: a full folder does not fill the memory. */
  facts: 1000,
  /** How long a session that ended can be resumed and still has its goal. */
  forgetMs: 30 * 24 * HOUR,
} as const;

export const UNCHANGED = {
  /** Longer than the tick of any disk's clock: the coarsest count two seconds. */
  tickMs: 3 * SECOND,
} as const;

export const SIDECAR = {
  /** Tools are called in groups; long enough to write once for all of them. */
  settleMs: 5,
  /** Where the system does not tell of new facts. */
  pollMs: 250,
  /** Where nothing else tells what the second source says. */
  lookMs: 2 * SECOND,
  /** As seldom as the format allows: a reader takes two that are missing for silence. */
  heartbeatMs: 30 * SECOND,
  /** Two signs of life missed: it is replaced, even if a process has its number. */
  silentMs: 60 * SECOND,
  /** Starting Node on a machine that is very busy. */
  startMs: 10 * SECOND,
  /** In a row: about a minute. If it cannot write by then, it is for the next hook to try. */
  failures: 30,
  /** Of a session whose host is not known: nobody will tell that it ended. */
  orphanMs: 24 * HOUR,
} as const;

export const WITNESS = {
  /** How long a state that contradicts a later hook must stand: it follows within some 100 ms. */
  graceMs: 2 * SECOND,
  /** How long a dialog may be open before its hook is heard: a slow start of Node. */
  hookMs: 0.7 * SECOND,
  /** As much of a conversation's end as holds the last few entries, with what tools answered. */
  tailBytes: 256 * KIB,
} as const;

export const APP_SERVER = {
  /**
   * It answers within milliseconds, on a machine that is very busy within seconds: an answer that
   * is given up leaves a terminal without its row. Beyond, it is not the program we take it for.
   */
  patienceMs: 60 * SECOND,
  /** A thread's tools with their descriptions are the longest that it is asked for. */
  messageBytes: 16 * MIB,
  /** Questions under way: as many threads as a person has, and more. */
  asked: 256,
  /** Threads whose state is kept: the same, with their subagents. */
  threads: 1024,
} as const;

export const IN_PROCESS = {
  /** Sessions of one process of a host that are shown: more than a person has open. */
  sessions: 256,
  /** Subagents of them, and theirs, since the process began. */
  subagents: 10_000,
  /** Subagents of subagents of …: deeper than any host lets them go. */
  depth: 16,
  /** Questions that were answered and are not asked anew by an event that comes late. */
  closedQuestions: 1000,
  /** How long after another an event may come that was before it: they take milliseconds. */
  lateMs: 2 * SECOND,
} as const;

export const SURPRISE = {
  /** How long one is told after it came last: a program that was updated since may know it. */
  toldMs: 7 * 24 * HOUR,
} as const;

export const COMPLAINTS = {
  /** Enough to see what is wrong, twice: the file and the one before it. */
  bytes: 64 * KIB,
  lineLength: 500,
} as const;
