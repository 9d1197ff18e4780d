/**
 * The store of a cluster on NATS: a log in JetStream, for several members at once.
 *
 *   engine ─▶ NatsLog ──────┐
 *   jobs ──▶ NatsStreams ───┼─▶ Writer ─▶ one turn at a time ─▶ the leader of the stream
 *                           └─▶ NatsSession: ends by the leader, pages by any server
 *   followers ◀── News ◀── what the leader repeats, and a look every second
 *
 * Everything is in one stream of JetStream (snapshots apart), because two cannot commit together:
 *
 *   rollcall.NAME.log.entries    a message is an append
 *   rollcall.NAME.log.sign       the last sign of life; the others are rolled up
 *   rollcall.NAME.stream.…       a subject is a stream; a message what an append wrote to it
 *   rollcall.NAME.meta           how far the log is truncated, and its snapshots
 *
 * An append that writes to streams as well is an atomic batch of messages. The mark is the sequence
 * of the last message of the log, and the fence: the leader takes an append only right after it.
 */
import { randomUUID } from "node:crypto";
import type { Durability } from "../durability.ts";
import type { Filling } from "../filling.ts";
import type { Departure } from "../moved.ts";
import type { Store } from "../store.ts";
import { Writer } from "../writer.ts";
import { appendToLog, appendToStreams } from "./append.ts";
import { natsError } from "./failure.ts";
import { abandonFilling, endFilling, openFilling } from "./filling.ts";
import { forget } from "./forget.ts";
import { Heads } from "./heads.ts";
import { NatsLog } from "./log.ts";
import { momentOf } from "./moment.ts";
import { markMoved } from "./moved.ts";
import { NatsSession, type NatsSessionOptions } from "./session.ts";
import { NatsStreams } from "./streams.ts";
import { parseNatsUrl } from "./url.ts";

export interface NatsStoreOptions {
  /** `nats://[USER@]HOST[:PORT][,…]/NAME`, without a password. */
  readonly url: string;
  /** A JWT with its key, a password or a token; asked for each connection. */
  readonly credentials?: () => Promise<string>;
  /** Whether servers that may lose what they acknowledged are refused, or used with a warning. */
  readonly durability?: Durability;
  /** The monitoring ports of the servers, `http://HOST:8222`: they tell how these sync. */
  readonly monitors?: readonly string[];
  /** Of streams that are made. */
  readonly replicas?: number;
  /** Name and version of the program, for another one that cannot read what this one writes. */
  readonly writtenBy?: string;
  /** Of what an operator should know. */
  readonly onWarning?: (message: string) => void;
}

const REPLICAS = 3;

export function natsStore(options: NatsStoreOptions): Store {
  return storeOf(sessionOf(options));
}

/** What a log that is there holds at the moment that it is opened, for reading. */
export function natsMoment(options: NatsStoreOptions): Store {
  return storeOf(sessionOf(options, { takeMoment: momentOf }));
}

/** An empty log to be filled, under the id of another one or its own. */
export function fillNats(options: NatsStoreOptions, logId: string = randomUUID()): Filling {
  const session = sessionOf(options, {
    opening: (connection, layout) => openFilling(connection, layout, logId),
  });
  const store = storeOf(session);
  const end = async (by: typeof endFilling) => {
    if (session.logId !== "") {
      await session.run((connection) => by(connection, session.layoutOptions, logId));
    }
    await store.close();
  };
  return { store, commit: () => end(endFilling), abandon: () => end(abandonFilling) };
}

/** Of a log that was copied elsewhere: nobody opens it, or writes to it, from now on. */
export async function leaveNats(options: NatsStoreOptions, departure: Departure): Promise<void> {
  const session = sessionOf(options, { takeMoment: momentOf });
  const { log } = storeOf(session);
  try {
    await log.open();
    await session.run((connection) => markMoved(connection, session, departure));
  } finally {
    await log.close();
  }
}

function sessionOf(
  options: NatsStoreOptions,
  use: Pick<NatsSessionOptions, "takeMoment" | "opening"> = {},
): NatsSession {
  const { credentials, monitors = [], replicas = REPLICAS } = options;
  return new NatsSession({
    url: parseNatsUrl(options.url),
    ...(credentials && { credentials }),
    durability: options.durability ?? "strict",
    monitors,
    replicas,
    writtenBy: options.writtenBy ?? "rollcall",
    onWarning: options.onWarning ?? (() => undefined),
    ...use,
  });
}

function storeOf(session: NatsSession): Store {
  const heads = new Heads(session);
  const writer = new Writer({
    appendToLog: (call) => appendToLog(session, heads, call),
    appendToStreams: (parts) => appendToStreams(session, heads, parts),
    forget: (streams) => forget(session, heads, streams),
    errorOf: (error) => natsError(error, session.place),
  });
  const log = new NatsLog(session, writer);
  return {
    description: `nats at ${session.place}`,
    log,
    streams: new NatsStreams(session, writer),
    close: () => log.close(),
  };
}
