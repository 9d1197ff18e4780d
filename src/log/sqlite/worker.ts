/**
 * The thread that owns the database. A commit waits for the disk; here it holds up nobody but the
 * next commit, which gathers meanwhile on the main thread.
 */
import { parentPort, workerData } from "node:worker_threads";
import { RollcallError } from "../../core/errors.ts";
import { forgetHolder, openDatabase } from "./database.ts";
import { storageError } from "./driver.ts";
import { Gate, type Name, type Operations, type Reply, type Request } from "./protocol.ts";
import { Tables } from "./tables.ts";

const gate = new Gate(workerData as SharedArrayBuffer);
let path = "";
let opened: Tables | undefined;

function tables(): Tables {
  if (!opened) throw new RollcallError("WRONG_STATE", "the database is not open");
  return opened;
}

const operations: Operations = {
  async open(options) {
    path = options.path;
    opened = new Tables(await openDatabase(path), options.writtenBy);
    return opened.opened();
  },
  range: () => tables().range(),
  commit: (commit) => tables().commit(commit),
  readLog: (span) => tables().read(span),
  truncate: (through) => tables().truncate(through),

  beginSnapshot: (sequence) => tables().snapshots.begin(sequence),
  addChunks: (chunks) => tables().snapshots.add(chunks),
  finishSnapshot: (id) => tables().finishSnapshot(id),
  dropSnapshot: (id) => tables().snapshots.drop(id),
  findSnapshot: (atOrBefore) => tables().snapshots.find(atOrBefore),
  readChunks: ({ id, from }) => tables().snapshots.read(id, from),

  readStream: ({ stream, span }) => tables().streams.read(stream, span),
  rangeOfStream: (stream) => tables().streams.range(stream),
  listStreams: ({ prefix, after }) => tables().streams.list(prefix, after),

  sweep: () => tables().sweep(),
  close() {
    if (opened) forgetHolder(path);
    opened?.close();
    opened = undefined;
    parentPort?.close();
  },
};

/** A request carries the argument of the operation it names: the compiler cannot follow that. */
function run({ name, argument }: Request): unknown {
  const operation = operations[name] as (argument: unknown) => ReturnType<Operations[Name]>;
  return operation(argument);
}

async function answer(request: Request): Promise<Reply> {
  const { id } = request;
  try {
    return { id, ok: true, value: await run(request) };
  } catch (error) {
    const { code, message } = storageError(error, path);
    return { id, ok: false, code, message };
  }
}

async function serve(request: Request): Promise<void> {
  if (!gate.enter()) return;
  const reply = await answer(request);
  gate.leave();
  parentPort?.postMessage(reply);
}

/** Opening takes several turns of the loop; what is asked meanwhile waits for it. */
let served = Promise.resolve();
parentPort?.on("message", (request: Request) => {
  served = served.then(() => serve(request));
});
