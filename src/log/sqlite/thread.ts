/**
 * The SQLite thread as the main thread sees it: calls that are answered in order.
 *
 *            start             stop
 *    new ───────────▶ running ──────▶ stopped
 *                      │   ▲
 *       the thread dies│   │start again
 *                      ▼   │
 *                     failed
 *
 * When the thread dies every call that waits rejects with UNAVAILABLE, a commit with
 * OUTCOME_UNKNOWN: it may have been carried out. The thread is never terminated, only asked to end:
 * see the gate in protocol.ts.
 */
import { Worker } from "node:worker_threads";
import { RollcallError } from "../../core/errors.ts";
import type { Argument, Name, ThreadReply, ThreadRequest, Result } from "./protocol.ts";
import { ExitGate } from "./protocol.ts";

/** From the sources (tests) the thread runs what was built of them: Node 20 reads no TypeScript. */
const WORKER = import.meta.url.endsWith(".ts")
  ? new URL("../../../dist/lib/worker.js", import.meta.url)
  : new URL("./worker.js", import.meta.url);

interface Asker {
  readonly id: number;
  readonly name: Name;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

export class SqliteThread {
  readonly #onFailure: (error: RollcallError) => void;
  /** In the order in which they are answered. */
  readonly #waiting: Asker[] = [];
  #worker: Worker | undefined;
  #failure: RollcallError | undefined;
  #lastId = 0;

  constructor(onFailure: (error: RollcallError) => void) {
    this.#onFailure = onFailure;
  }

  get isRunning(): boolean {
    return this.#worker !== undefined;
  }

  checkRunning(): void {
    if (!this.#worker) throw this.#failure ?? notOpen();
  }

  start(): void {
    const gate = new ExitGate();
    const execArgv = ["--disable-warning=ExperimentalWarning"];
    const worker = new Worker(WORKER, { execArgv, workerData: gate.buffer });
    const shut = () => gate.shut();
    process.once("exit", shut);
    let reason = "it ended";
    worker.on("message", (reply: ThreadReply) => this.#settle(reply));
    worker.on("error", (error) => {
      reason = String(error);
    });
    worker.on("exit", () => {
      process.off("exit", shut);
      if (this.#worker === worker) this.#fail(reason);
    });
    this.#worker = worker;
    this.#failure = undefined;
  }

  call<K extends Name>(name: K, argument: Argument<K>): Promise<Result<K>> {
    const worker = this.#worker;
    if (!worker) return Promise.reject(this.#failure ?? notOpen());
    const request: ThreadRequest<K> = { id: ++this.#lastId, name, argument };
    return new Promise((resolve, reject) => {
      const answer = (value: unknown) => resolve(value as Result<K>);
      this.#waiting.push({ id: request.id, name, resolve: answer, reject });
      worker.postMessage(request);
    });
  }

  /** Calls that were made before are answered first. */
  async stop(): Promise<void> {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#failure = undefined;
    if (!worker) return;
    const ended = new Promise((resolve) => worker.once("exit", resolve));
    const request: ThreadRequest<"close"> = { id: 0, name: "close", argument: undefined };
    worker.postMessage(request);
    await ended;
    this.#rejectAll(notOpen);
  }

  #settle(reply: ThreadReply): void {
    if (this.#waiting[0]?.id !== reply.id) return;
    const asker = this.#waiting.shift();
    if (reply.ok) asker?.resolve(reply.value);
    else asker?.reject(new RollcallError(reply.code, reply.message));
  }

  #fail(reason: string): void {
    const failure = new RollcallError("UNAVAILABLE", `the sqlite thread died: ${reason}`);
    this.#worker = undefined;
    this.#failure = failure;
    const unknown = new RollcallError("OUTCOME_UNKNOWN", failure.message);
    this.#rejectAll(({ name }) => (name === "commit" ? unknown : failure));
    this.#onFailure(failure);
  }

  #rejectAll(errorOf: (asker: Asker) => Error): void {
    for (const asker of this.#waiting.splice(0)) asker.reject(errorOf(asker));
  }
}

function notOpen(): RollcallError {
  return new RollcallError("WRONG_STATE", "the store is not open");
}
