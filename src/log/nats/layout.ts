/**
 * The streams of JetStream that a log lives in: made when there are none, refused when they are
 * not ours, too new, or set so that they forget by themselves; and never made a second time by a
 * store that has seen them: a log that is suddenly gone is a loss, not a beginning.
 *
 * Sequences of a new log begin at a random number. So an append that is meant for a log that was
 * deleted fits no other that was made in its place.
 */
import { randomInt, randomUUID } from "node:crypto";
import { RollcallError } from "../../core/errors.ts";
import { FILLING } from "../filling.ts";
import { MOVED, movedAway } from "../moved.ts";
import type { Connection } from "./driver.ts";
import { damaged, NAME_TAKEN, NO_STREAM, otherLog, Refused } from "./failure.ts";
import type { Names } from "./names.ts";
import { logHeaders } from "./stored.ts";

export const SCHEMA_VERSION = 1;
/** The first that writes several messages at once, all or none. */
const OLDEST_SERVER = [2, 12] as const;
/** Far from each other, and far below 2^53. */
const FIRST_SEQUENCES = 2 ** 44;

export interface StreamConfig {
  readonly name: string;
  readonly storage: string;
  readonly retention: string;
  readonly discard: string;
  readonly max_age?: number;
  readonly max_msgs?: number;
  readonly max_msgs_per_subject?: number;
  readonly num_replicas: number;
  readonly persist_mode?: string;
  readonly first_seq?: number;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface StreamInfo {
  readonly config: StreamConfig;
  readonly state: {
    readonly messages: number;
    readonly first_seq: number;
    readonly last_seq: number;
    readonly subjects?: Readonly<Record<string, number>>;
  };
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly name: string }[];
  };
  readonly total?: number;
}

export interface LayoutOptions {
  readonly names: Names;
  /** Servers and name, for messages. */
  readonly place: string;
  readonly writtenBy: string;
  /** Of the log that this store has had open. */
  readonly logId: string | undefined;
  readonly replicas: number;
  /** Of a log that this store fills: the id that it gets. */
  readonly filledId?: string;
}

export interface OpenedLayout {
  readonly logId: string;
  readonly infos: readonly StreamInfo[];
}

export async function openLayout(
  connection: Connection,
  options: LayoutOptions,
): Promise<OpenedLayout> {
  checkServer(connection, options.place);
  const { names, place, logId } = options;
  let info = await infoOf(connection, names.stream);
  if (!info && logId !== undefined) {
    throw damaged(place, `the log ${logId} that was open here is gone, its stream was deleted`);
  }
  info ??= await make(connection, options);
  const found = checkOurs(info, options);
  if (logId !== undefined && found !== logId) throw otherLog(place);
  const snapshots = await infoOf(connection, names.snapshots);
  if (!snapshots) throw damaged(place, `its stream ${names.snapshots} was deleted`);
  if (info.state.messages === 0) await begin(connection, options, info);
  return { logId: found, infos: [info, snapshots] };
}

/** Of a log that is there already: nothing is made. */
export async function lookAtLayout(
  connection: Connection,
  options: LayoutOptions,
): Promise<OpenedLayout> {
  const info = await infoOf(connection, options.names.stream);
  if (info) return { logId: checkOurs(info, options), infos: [info] };
  throw new RollcallError("NOT_FOUND", `NATS at ${options.place} holds no log`);
}

function checkServer(connection: Connection, place: string): void {
  const { version } = connection.facts;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [oldest, since] = OLDEST_SERVER;
  if (major > oldest || (major === oldest && minor >= since)) return;
  const message = `NATS at ${place} is version ${version}: use ${OLDEST_SERVER.join(".")} or newer`;
  throw new RollcallError("UNIMPLEMENTED", message);
}

/** Nothing when there is no such stream. */
export async function infoOf(
  connection: Connection,
  stream: string,
): Promise<StreamInfo | undefined> {
  try {
    return await connection.call<StreamInfo>(`STREAM.INFO.${stream}`);
  } catch (error) {
    if (error instanceof Refused && error.code === NO_STREAM) return undefined;
    throw error;
  }
}

/** Gives the id of the log. */
export function checkOurs({ config }: StreamInfo, options: LayoutOptions): string {
  const { place, names, writtenBy, filledId } = options;
  const { metadata = {} } = config;
  const logId = metadata["rollcall-log"];
  if (logId === undefined) {
    throw new RollcallError(
      "STORAGE_CORRUPT",
      `NATS at ${place} has a stream ${names.stream} of another program: nothing was changed; ` +
        "name another log in the URL",
    );
  }
  const version = Number(metadata["rollcall-schema"]);
  if (version <= SCHEMA_VERSION || filledId !== undefined) return logId;
  if (version === MOVED) throw movedAway(`NATS at ${place}`, metadata["rollcall-moved-to"] ?? "");
  if (version === FILLING) {
    throw new RollcallError(
      "WRONG_STATE",
      `NATS at ${place} is being filled by a restore or a move that has not ended, of ` +
        `${metadata["rollcall-written-by"]}: wait for it, or run it again`,
    );
  }
  throw new RollcallError(
    "STORAGE_TOO_NEW",
    `NATS at ${place} was written by ${metadata["rollcall-written-by"]} with schema ${version}; ` +
      `${writtenBy} reads up to schema ${SCHEMA_VERSION}: run that version or newer`,
  );
}

/** What the stream of a log takes. */
export function subjectsIn({ log, meta, allStreams }: Names): readonly string[] {
  return [log, meta, allStreams];
}

/** Members that start together make it once: the settings of the others differ, by the id. */
async function make(connection: Connection, options: LayoutOptions): Promise<StreamInfo> {
  const { names, replicas, writtenBy, filledId } = options;
  const common = {
    storage: "file",
    retention: "limits",
    num_replicas: replicas,
    discard: "new",
    allow_direct: true,
    deny_delete: true,
  };
  await created(connection, { ...common, name: names.snapshots, subjects: [names.allSnapshots] });
  return created(connection, {
    ...common,
    name: names.stream,
    subjects: subjectsIn(names),
    allow_rollup_hdrs: true,
    allow_atomic: true,
    first_seq: randomInt(1, FIRST_SEQUENCES),
    republish: { src: names.log, dest: names.heardRule },
    metadata: {
      "rollcall-log": filledId ?? randomUUID(),
      "rollcall-schema": String(filledId === undefined ? SCHEMA_VERSION : FILLING),
      "rollcall-written-by": writtenBy,
    },
  });
}

async function created(
  connection: Connection,
  config: { readonly name: string } & Readonly<Record<string, unknown>>,
): Promise<StreamInfo> {
  try {
    return await connection.call<StreamInfo>(`STREAM.CREATE.${config.name}`, config);
  } catch (error) {
    const isTaken = error instanceof Refused && error.code === NAME_TAKEN;
    const info = isTaken && (await infoOf(connection, config.name));
    if (info) return info;
    throw error;
  }
}

/**
 * The first sign: from then on the log always has a message. One that has none, and had some, was
 * purged; the server refuses the sign there, because its last sequence outlives a purge.
 */
async function begin(
  connection: Connection,
  { names, place }: LayoutOptions,
  { config, state }: StreamInfo,
): Promise<void> {
  const logId = config.metadata?.["rollcall-log"] ?? "";
  const before = (config.first_seq ?? 1) - 1;
  if (state.last_seq > before) throw damaged(place, PURGED);
  const headers = {
    ...logHeaders({ head: 0, count: 0, id: "", previous: "", logId }),
    "Nats-Expected-Last-Sequence": String(before),
    "Nats-Rollup": "sub",
  };
  await connection.request({ subject: names.sign, body: "", headers }, 5_000);
}

export const PURGED = "all its messages were purged";
