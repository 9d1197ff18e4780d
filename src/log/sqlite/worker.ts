/**
 * The thread that owns the database. A commit waits for the disk; here it holds up nobody but the
 * next commit, which gathers meanwhile on the main thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { RollcallError } from "../../core/errors.ts";
import { makeBackup } from "./backup.ts";
import { checkPages } from "./check.ts";
import { storageError, type Database } from "./driver.ts";
import {
  decoded,
  decodeText,
  ExitGate,
  type Name,
  type Operations,
  type ThreadReply,
  type ThreadRequest,
} from "./protocol.ts";
import { checkBeside, openReader, openTables } from "./opening.ts";
import { Tables } from "./tables.ts";
import { forgetHolder } from "./writer-lock.ts";

const gate = new ExitGate(workerData as SharedArrayBuffer);
let path = "";
let opened: Tables | undefined;
/** The file, where this thread only reads it. */
let reading: Database | undefined;

function tables(): Tables {
  if (!opened) throw new RollcallError("WRONG_STATE", "the database is not open");
  return opened;
}

const operations: Operations = {
  async open(options) {
    path = options.path;
    if (options.isReader) {
      const { database, head } = await openReader(path);
      reading = database;
      return readOnce(reading, () => {
        if (head) tables().checkWitnessed(head);
        return { ...tables().opened(), isUnchecked: false };
      });
    }
    const { tables: found, floor, isUnchecked } = await openTables(path, options.writtenBy);
    opened = found;
    return { ...found.opened(), isUnchecked, ...(floor !== undefined && { floor }) };
  },
  checkBeside(file) {
    path = file;
    return checkBeside(path);
  },
  range: () => tables().range(),
  commit: (commit) => tables().commit(commit),
  readLog: (span) => decoded(tables().read(span)),
  idAt: (sequence) => tables().idAt(sequence),
  truncate: (through) => tables().truncate(through),

  beginSnapshot: (sequence) => tables().beginSnapshot(sequence),
  addChunks: (chunks) => tables().snapshots.add(chunks),
  finishSnapshot: (id) => tables().finishSnapshot(id),
  dropSnapshot: (id) => tables().snapshots.drop(id),
  findSnapshot: (atOrBefore) => tables().snapshots.find(atOrBefore),
  readChunks: ({ id, from }) => tables().snapshots.read(id, from).map(decodeText),

  readStream({ stream, span }) {
    const { page, ...range } = tables().streams.read(stream, span);
    return { ...range, page: decoded(page) };
  },
  rangeOfStream: (stream) => tables().streams.range(stream),
  listStreams: ({ prefix, after }) => tables().streams.list(prefix, after),

  backup: (request) => makeBackup(path, request),
  verify() {
    if (reading) checkPages(reading, path);
    return tables().verify();
  },
  compact: () => tables().compact(),
  markMoved: (to) => tables().markMoved(to),
  sweep: () => tables().sweep(),
  close() {
    if (opened && !reading) forgetHolder(path);
    opened?.close();
    opened = undefined;
    parentPort?.close();
  },
};

/**
 * A reader sees one moment in one call, and remembers nothing of it for the next one: the writer
 * goes on beside it.
 */
function readOnce<T>(database: Database, read: () => T): T {
  database.exec("BEGIN");
  try {
    opened = new Tables(database, { path, writtenBy: "" });
    return read();
  } finally {
    database.exec("COMMIT");
  }
}

/** Calls that sync what they write. A commit sees to its witness itself, a sweep needs none. */
const SYNCED: ReadonlySet<Name> = new Set<Name>([
  "truncate",
  "beginSnapshot",
  "addChunks",
  "finishSnapshot",
  "compact",
  "markMoved",
]);
/** Calls that a reader makes outside of a transaction. */
const FREE: ReadonlySet<Name> = new Set<Name>(["close", "backup"]);

/** A request carries the argument of the operation it names: the compiler cannot follow that. */
function run({ name, argument }: ThreadRequest): unknown {
  const operation = operations[name] as (argument: unknown) => ReturnType<Operations[Name]>;
  if (!reading || FREE.has(name)) {
    const value = operation(argument);
    if (SYNCED.has(name)) tables().witnessed();
    return value;
  }
  return readOnce(reading, () => operation(argument));
}

async function answer(request: ThreadRequest): Promise<ThreadReply> {
  const { id } = request;
  try {
    return { id, ok: true, value: await run(request) };
  } catch (error) {
    const { code, message } = storageError(error, path);
    // The device failed, maybe between the write of a commit and its sync.
    const isUnknown =
      request.name === "commit" && code === "UNAVAILABLE" && !(error instanceof RollcallError);
    return { id, ok: false, code: isUnknown ? "OUTCOME_UNKNOWN" : code, message };
  }
}

async function serve(request: ThreadRequest): Promise<void> {
  if (!gate.enter()) return;
  const reply = await answer(request);
  gate.leave();
  parentPort?.postMessage(reply);
}

/** Opening takes several turns of the loop; what is asked meanwhile waits for it. */
let served = Promise.resolve();
parentPort?.on("message", (request: ThreadRequest) => {
  served = served.then(() => serve(request));
});
