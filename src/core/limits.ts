/**
 * Every bound of the system, with its reason. A bound that is reached is a refusal with a code and
 * a message that names it, never a surprise.
 */
import { DAY, HOUR, KIB, MIB, MINUTE, SECOND } from "./units.ts";

/** How often a caller may do something; the rate itself is a setting. */
export const RATE = {
  /** How many seconds of the rate may come at once. */
  burstSeconds: 2,
  /** Callers remembered; the one seen first is forgotten first, and then has a full burst again. */
  callers: 10_000,
} as const;

/** Sizes and ranges of single fields: what one caller may say in one command. */
export const FIELD = {
  /** Keys, names, subjects: long enough for a URL-like key, short enough for an index. */
  keyLength: 256,
  nameLength: 128,
  versionLength: 64,
  /** A paragraph or two: it is embedded for search and shown in tables. */
  descriptionLength: 4 * KIB,
  reasonLength: 1 * KIB,
  /** A whole card as JSON: it stays in memory as long as its agent, and a day longer. */
  cardLength: 128 * KIB,
  tools: 256,
  capabilities: 128,
  metadataEntries: 64,
  metadataValueLength: 1 * KIB,
  /** Half of gRPC's default message size, so that what was accepted can always be sent. */
  taskInputBytes: 2 * MIB,
  taskOutputBytes: 1 * MIB,
  /** Jobs told of in one command: some hundred KiB of the log. */
  jobs: 512,
  maxRetries: 1000,
} as const;

/** Bounds of a report on an agent: it is shown on one line, or in a page of detail. */
export const FLEET = {
  /** An alias may hold a URL. */
  aliasLength: 1024,
  links: 8,
  /** Of one agent: a row is made of all of them, and each is told of in it. */
  sources: 256,
  nameLength: 256,
  /** As long as paths may be. */
  workspaceLength: 4 * KIB,
  textLength: 1 * KIB,
  questionLength: 4 * KIB,
  options: 20,
  /** An agent that only goes on is recorded this often: patience with it is counted in minutes. */
  activityMs: 60 * SECOND,
  /** How far a source's clock may run ahead of ours: machines that keep time differ by less. */
  skewMs: 5 * SECOND,
  /** Reports dismissed by one command: keeps the batch short. */
  dismissedAtOnce: 512,
} as const;

/** Bounds of outposts: each speaks for one machine, and is trusted with nothing beyond it. */
export const OUTPOST = {
  /** As many machines as there may be tokens for. */
  outposts: 10_000,
  /** Sources of one machine: every session of a busy day, and what is over. */
  reports: 2_000,
  /** Jobs of one machine: those that run and wait, and the last that ended. */
  jobs: 1_000,
  /** In one batch of the log. */
  reportsAtOnce: 256,
  cursorLength: 128,
  nameLength: 256,
  /** How often an outpost is heard at least; a third of what proxies wait for. */
  beatMs: 15 * SECOND,
  /** One that was heard within this time is there: another of its name is refused. */
  livingMs: 45 * SECOND,
  /** Six heartbeats: a lid that is closed for a minute is no news. */
  silentMs: 90 * SECOND,
  /** As long as a token lives that nobody renewed. */
  forgottenMs: 30 * DAY,
  /** Clocks that are apart by more are taken to be wrong. */
  skewMs: 2 * SECOND,
} as const;

/** Bounds of the directory of agents: anybody may send it a card. */
export const DIRECTORY = {
  /** With `a2a:` before it, it is an alias of the fleet. */
  urlLength: 1_000,
  /** A remote address, or what a principal is called. */
  sourceLength: 256,
  reasonLength: 256,
  staleMultiplierMost: 100,
  /** More would be an agent that nobody misses for an hour. */
  cleanupMsMost: 1 * HOUR,
  /** Between two changes of one entry by senders without its token: each costs a fetch. */
  changeMs: 60 * SECOND,
} as const;

/** How long things may live; outside the range is refused, zero means the default. */
export const TTL = {
  minMs: 1 * SECOND,
  maxMs: 24 * HOUR,
  agentDefaultMs: 30 * SECOND,
  leaseDefaultMs: 60 * SECOND,
  taskDefaultMs: 60 * SECOND,
  /** A task that waits for a month is one that nobody misses. */
  pendingMaxMs: 30 * DAY,
} as const;

/** How long a bearer token may live; zero means the default. */
export const TOKEN = {
  ttlMinMs: 1 * SECOND,
  /** A year and a day: longer than anybody remembers where it is. */
  ttlMaxMs: 366 * DAY,
  ttlDefaultMs: 30 * DAY,
} as const;

/** How much the state may hold; each keeps memory and the longest cascade bounded. */
export const COUNT = {
  agents: 2_000_000,
  leases: 2_000_000,
  leasesPerAgent: 10_000,
  groups: 100_000,
  candidatesPerGroup: 10_000,
  groupsPerAgent: 1_000,
  policies: 100_000,
  /** One for every machine and program of a large team, and those that are over. */
  tokens: 10_000,
  /** Sources of reports: every session of every host of a large team. */
  reports: 200_000,
  /** Of the directory: what one listing can still show. */
  entries: 50_000,
  /** Of one sender; a gateway may speak for all agents behind it. */
  entriesPerSource: 5_000,
  /** Of one scheme, host and port: agents of one server, each under its path. */
  entriesPerOrigin: 1_000,
  /** The size of all cards together, in characters: they all sit in memory. */
  entryLength: 256 * MIB,
  entryLengthPerSource: 64 * MIB,
  unfinishedTasks: 1_000_000,
  /** Jobs that wait or run, of all daemons; more are told of when there is room again. */
  unfinishedJobs: 200_000,
  claimsPerAgent: 1_000,
  /** The size of all unfinished tasks together: they all sit in memory. */
  taskBytes: 512 * MIB,
} as const;

/** Ended things stay visible for a while, then go. */
export const RETENTION = {
  deadAgentMs: 24 * HOUR,
  deadAgents: 100_000,
  finishedTaskMs: 24 * HOUR,
  finishedTasks: 100_000,
  /** They sit in memory, too; the oldest make room, so that work never waits for them. */
  finishedTaskBytes: 256 * MIB,
  /** As many as one death may finish: keeps the batch short. */
  forgottenAtOnce: 1_000,
  /**
   * Leases, candidacies and claims each that a death takes in one batch: with the longest names
   * together half of what a database takes as one append.
   */
  lossesAtOnce: 500,
  emptyGroupMs: 24 * HOUR,
  overReportMs: 24 * HOUR,
  questionMs: 24 * HOUR,
  endedJobMs: 24 * HOUR,
  /** Enough to look back on a busy hour; the daemon that ran them knows more, and longer. */
  endedJobs: 20_000,
  questions: 50_000,
  /** So long its caller hears that it is expired or revoked, and not that it is unknown. */
  tokenMs: 30 * DAY,
  /** Kept in the log, whichever is less. */
  logMs: 7 * 24 * HOUR,
  logEvents: 1_000_000,
} as const;

/** The audit trail. */
export const AUDIT = {
  keptMs: 90 * DAY,
  /** About 30 MB: one a minute for 90 days, or a busy week. */
  entries: 130_000,
  /** The first denial of a caller and action is written after so long at most, */
  writtenMs: 1 * SECOND,
  /** and those that repeat it are counted for so long, and are one entry then. */
  countedMs: 60 * SECOND,
  /** Old and surplus entries are removed after so many new ones, or so much time. */
  trimmedEvery: 1_000,
  trimmedMs: 1 * HOUR,
  /** Callers and actions that are told apart within that time; the rest is one entry together. */
  denials: 1_000,
  /** The same of one principal, which may choose its peers: 12 entries a minute at the worst. */
  denialsOfOne: 5,
  /** The same of callers that nobody knows: at most 4,800 entries a day, of all of them. */
  strangersMs: 1 * HOUR,
  strangers: 100,
  /** Acts of operators for others that are noted once, for the life of a daemon. */
  noted: 10_000,
  /** Entries that are read in one go: about two milliseconds. */
  readAtOnce: 500,
  targetLength: 300,
  reasonLength: 300,
} as const;

/** One append to a log. */
export const LOG = {
  /** To a file of one's own: more than may ever wait for it. */
  ownAppendBytes: 256 * MIB,
  /** To a database: what it takes as one row or message without holding up others. */
  sharedAppendBytes: 8 * MIB,
  /**
   * How long a store tries to learn what became of an append: longer than it mostly takes to find
   * the new leader of the database, shorter than the patience of callers.
   */
  appendWithinMs: 5 * SECOND,
} as const;

/**
 * How soon another node leads when the one that leads falls silent, by situation.
 *
 * A claim to lead is fenced unless its node has heard the last sign of life there is. The leader
 * began that sign before it was heard, so it has stopped to answer from memory (`leadershipMs`)
 * before anybody's patience with it (`silenceMs`) is over: a new leader need not wait. The first
 * must be less than the second by more than clocks drift.
 */
export const FAILOVER = {
  /** Nodes and log in one place: within 2 s. */
  fast: failover({ tickMs: 400, leadershipMs: 800, silenceMs: 1 * SECOND, spreadMs: 500 }),
  /** Links that are slow or come and go: within 6 s, at fewer signs of life. */
  calm: failover({
    tickMs: 1 * SECOND,
    leadershipMs: 2 * SECOND,
    silenceMs: 3 * SECOND,
    spreadMs: 3 * SECOND,
  }),
} as const;

export type Failover = keyof typeof FAILOVER;

export interface FailoverTimes {
  /** A leader that wrote nothing for half of this shows a sign of life. */
  readonly tickMs: number;
  /** How long it may answer from memory after it last began an append that succeeded. */
  readonly leadershipMs: number;
  /** Followers that heard nothing for this long claim to lead, */
  readonly silenceMs: number;
  /** each by chance up to so much later, so that not all do in the same moment. */
  readonly spreadMs: number;
}

function failover(times: FailoverTimes): FailoverTimes {
  return times;
}

/** A log on which signs of life come late is not a leader that died. */
export const LATENESS = {
  /** So many signs are remembered, about 20 s of them, */
  signs: 100,
  /** and the patience of followers is so many times how late the latest of them were, but one. */
  factor: 10,
  /** No more patience than this, however late. */
  mostMs: 6 * SECOND,
} as const;

/** The members of a cluster. */
export const MEMBERS = {
  /** Replicas, not machines: each reads every event. */
  most: 64,
  /** A name may be taken once its node, which sends a sign every second, was silent for so long. */
  livingMs: 5 * SECOND,
} as const;

/** Heartbeats at a node that follows. */
export const BEATS = {
  /** Between two batches to the leader: callers wait for it, and the leader has fifty a second. */
  everyMs: 20,
  /** Without any heartbeat: a sign that this node itself lives. */
  signMs: 1 * SECOND,
  /** Of one batch: a megabyte of ids. What is more goes to the leader one by one. */
  batch: 30_000,
} as const;

/** Answers that are remembered for retries. */
export const REQUESTS = {
  /** The newest, and no older than the longest time for which a caller goes on trying. */
  kept: 65_536,
  keptMs: 10 * MINUTE,
  /** In characters of all replies together; a reply may hold the input of a task. */
  keptLength: 64 * MIB,
} as const;

/** Answers of a leader that changed nothing, for late copies of commands that members handed on. */
export const LATE_COPIES = {
  kept: 16_384,
  /** Members ask again for a few seconds; a copy may be under way for longer, but not for this. */
  keptMs: 1 * MINUTE,
} as const;

/** The engine's own bounds. */
export const ENGINE = {
  /** Commands that wait for the disk; beyond, callers are told to come back. */
  queuedCommands: 65_536,
  /** Their size together. */
  queuedBytes: 64 * MIB,
  /**
   * Stream entries of one batch; beyond it their producers wait for the next one. It is a few
   * milliseconds of a good disk: so the disk, the agents and the sockets are all at work at once.
   */
  batchStreamBytes: 1 * MIB,
  /** Stream entries that wait for the disk; a producer that does not wait is stopped here. */
  waitingStreamBytes: 32 * MIB,
  /** Heap looked at in one go, so that a million at once do not stop the loop. */
  expiriesPerTurn: 1_000,
  /** The time from a claim to lead until leading that does not count as unseen, alone. */
  claimSeenMs: 200,
  /** Time that went by unseen (a suspended machine, a stepped clock) beyond this kills nobody. */
  unseenMs: 5 * SECOND,
  /** How long a follower waits to catch up with the leader before it gives a read up. */
  catchUpMs: 5 * SECOND,
  /** Between two looks whether another node leads by now. */
  askAgainMs: 50,
  /** A read that met a failure is tried again on the rebuilt state, so often. */
  readTries: 3,
  /** Between two tries to write again after the store failed. */
  recoveryMs: 500,
  snapshotEveryEvents: 250_000,
  snapshotEveryMs: 24 * HOUR,
  snapshotChunkRecords: 500,
  /** A chunk is closed once it weighs this much: 500 tasks may weigh more than one text can. */
  snapshotChunkBytes: 1 * MIB,
} as const;

/** Watching: what is kept at hand for those who are nearly up to date. */
export const WATCH = {
  /** Shared by all watchers; a watcher further behind reads the log. */
  recentEvents: 16_384,
  recentBytes: 32 * MIB,
  /** Kept though all near watchers have seen them: one that reads the log joins them here. */
  seenEvents: 64,
  /** A live watcher further behind than this is cut. */
  lagEvents: 65_536,
  /** The most that one pull returns. */
  pullEvents: 512,
  /** Woken in one turn of the event loop: to write to so many takes a few milliseconds. */
  wakesAtOnce: 250,
  /** Skipped events after which a filtered watcher is told where it stands. */
  bookmarkEvents: 1_024,
  watchers: 20_000,
  prefixes: 64,
} as const;
