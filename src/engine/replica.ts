/** The state in memory and the position it stands at, brought up from the log. */
import { RollcallError } from "../core/errors.ts";
import { decode, type RecordedEvent } from "../core/events.ts";
import type { Rules } from "../core/rules.ts";
import { restore } from "../core/snapshot.ts";
import { emptyState, type State } from "../core/state.ts";
import { checkChain } from "../log/entries.ts";
import type { Log, LogBatch, LogPrograms, Snapshot } from "../log/log.ts";
import type { Observers } from "./observer.ts";

export interface Replica {
  readonly state: State;
  head: number;
  /** Of the log, the newest that was heard of. */
  mark: number;
  /** The append that wrote the last event that was read; of a leader, the one before its term. */
  lastId: string;
  readonly logId: string;
  /** That write the log, to name them when one writes what the other cannot read. */
  readonly programs: LogPrograms | undefined;
  /** Of tokens and terms, where the log may have lost some of them. */
  readonly floor: number;
  /** Views that are kept beside the state; none while it is being rebuilt. */
  observers: Observers | undefined;
}

/** Opens the log and rebuilds the state: the newest snapshot, then what came after. */
export async function load(log: Log, rules: Rules): Promise<Replica> {
  const { floor = 0, mark, logId } = await log.open();
  const replica: Replica = {
    ...((await newestKept(log)) ?? (await newestOf(log))),
    mark,
    logId,
    programs: log.programs,
    floor,
    observers: undefined,
  };
  for await (const batch of log.read(replica.head, replica.lastId)) apply(replica, rules, batch);
  return replica;
}

type Start = Pick<Replica, "state" | "head" | "lastId">;

async function newestOf(log: Log): Promise<Start> {
  const snapshot = await log.loadSnapshot(Infinity);
  if (!snapshot) return { state: emptyState(), head: 0, lastId: "" };
  return { state: await restored(log, snapshot), head: snapshot.sequence, lastId: snapshot.id };
}

/** In the mirror, which only saves time: one that cannot be read is not missed. */
async function newestKept({ mirror }: Log): Promise<Start | undefined> {
  const snapshot = await mirror?.newest();
  if (!snapshot) return undefined;
  try {
    const { sequence: head, id: lastId } = snapshot;
    return { state: await restore(snapshot.chunks), head, lastId };
  } catch (error) {
    await mirror?.discard(error);
    return undefined;
  }
}

async function restored(log: Log, { chunks }: Snapshot): Promise<State> {
  try {
    return await restore(chunks);
  } catch (error) {
    throw explained(error, "its snapshot", log.programs);
  }
}

export function selected<T>(
  { state, head }: Replica,
  select: (state: State, sequence: number) => T,
): T {
  return select(state, head);
}

/** Takes in what is new of a batch and gives it back, decoded. */
export function apply(replica: Replica, rules: Rules, batch: LogBatch): RecordedEvent[] {
  const { first, entries, mark, id, previous } = batch;
  if (first === replica.head + 1) checkChain(replica.head, replica.lastId, previous);
  const fresh: RecordedEvent[] = [];
  try {
    for (let i = Math.max(0, replica.head + 1 - first); i < entries.length; i += 1) {
      const recorded = decode(entries[i] ?? "", first + i);
      replica.observers?.before(recorded.event, replica.state);
      rules.evolve(replica.state, recorded.event, recorded.atMs);
      replica.head = recorded.sequence;
      fresh.push(recorded);
    }
  } catch (error) {
    throw explained(error, `event ${replica.head + 1} of the log`, replica.programs);
  }
  replica.mark = Math.max(replica.mark, mark);
  if (fresh.length > 0) replica.lastId = id;
  return fresh;
}

/**
 * Adds to a STORAGE_TOO_NEW where it is, which programs are concerned and how to mend it. What no
 * rule expects was not written by one: entries from before there were checksums may be damaged.
 */
function explained(error: unknown, where: string, programs?: LogPrograms): unknown {
  if (!(error instanceof RollcallError)) {
    const why = error instanceof Error ? error.message : String(error);
    const message = `${where} cannot be read (${why}): the log is damaged; restore a backup`;
    return new RollcallError("STORAGE_CORRUPT", message, { cause: error });
  }
  if (error.code !== "STORAGE_TOO_NEW") return error;
  const written = programs
    ? `last written by ${programs.last}, and this is ${programs.own}`
    : "written by a newer version";
  const message =
    `${where}: ${error.message}; the log was ${written}: ` +
    "run that version or newer, or restore a backup made before it";
  return new RollcallError("STORAGE_TOO_NEW", message, { cause: error });
}
