/**
 * Group commit. One commit is under way at a time; what is called meanwhile waits and is written by
 * the next one, with one sync for all: the log's append and those to streams alone, in the order of
 * the calls. Trimming and removing go along, a bounded number at a time, so that forgetting ten
 * thousand streams does not hold up an append.
 */
import { setImmediate as endOfTurn } from "node:timers/promises";
import { RollcallError } from "../../core/errors.ts";
import { LOG } from "../../core/limits.ts";
import { checkBytes } from "../entries.ts";
import type { AppendBatch } from "../log.ts";
import { appendOf, WAITING_BYTES } from "./protocol.ts";
import type {
  Append,
  AppendOutcome,
  AppendPlace,
  Commit,
  CommitResult,
  Forget,
} from "./protocol.ts";

/** Streams that one commit trims or removes: about as much work as its sync. */
const FORGETS = 512;

interface WaitingCall<Call, Result> {
  readonly call: Call;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

interface WaitingAppend extends WaitingCall<Append, readonly number[]> {
  readonly bytes: number;
}

export class Commits {
  readonly #write: (commit: Commit) => Promise<CommitResult>;
  #appends: WaitingAppend[] = [];
  readonly #forgets: WaitingCall<Forget, boolean>[] = [];
  #streamBytes = 0;
  #isWriting = false;

  constructor(write: (commit: Commit) => Promise<CommitResult>) {
    this.#write = write;
  }

  /** At the head that the log must have, or to streams alone; then gives the head of each. */
  async append(batch: AppendBatch, at?: AppendPlace): Promise<readonly number[]> {
    const call = appendOf(batch, at);
    const bytes = at === undefined ? bytesOf(call) : 0;
    if (at) checkBytes(call.text.length + bytesOf(call), LOG.ownAppendBytes);
    if (this.#streamBytes + bytes > WAITING_BYTES) {
      const message = `more than ${WAITING_BYTES} bytes wait to be written to streams`;
      throw new RollcallError("LIMIT_EXCEEDED", message);
    }
    this.#streamBytes += bytes;
    return new Promise((resolve, reject) => {
      this.#appends.push({ call, bytes, resolve, reject });
      this.#start();
    });
  }

  /** Gives whether something is left to the sweep. */
  forget(call: Forget): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#forgets.push({ call, resolve, reject });
      this.#start();
    });
  }

  /** When every append that was called before is written, or was refused. */
  async settled(): Promise<void> {
    await this.append({ entries: [] }).catch(() => undefined);
  }

  #start(): void {
    if (!this.#isWriting) void this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Other calls of this moment join the first commit; to forget alone is not worth one, if an
    // append comes in this turn of the loop.
    await (this.#appends.length > 0 ? Promise.resolve() : endOfTurn());
    while (this.#appends.length + this.#forgets.length > 0) {
      const appends = this.#appends;
      const forgets = this.#takeForgets();
      this.#appends = [];
      try {
        const commit = { appends: appends.map(callOf), forgets: forgets.map(callOf) };
        const { outcomes, isUnswept } = await this.#write(commit);
        for (const [index, waiting] of appends.entries()) this.#settle(waiting, outcomes[index]);
        for (const { resolve } of forgets) resolve(isUnswept);
      } catch (error) {
        for (const { reject } of forgets) reject(error);
        this.#fail(appends, error);
      }
    }
    this.#isWriting = false;
  }

  /** At least one, where there is any. */
  #takeForgets(): readonly WaitingCall<Forget, boolean>[] {
    let streams = 0;
    const isBeyond = ({ call }: WaitingCall<Forget, boolean>) => {
      const isFull = streams >= FORGETS;
      streams += call.streams.length;
      return isFull;
    };
    const beyond = this.#forgets.findIndex(isBeyond);
    return this.#forgets.splice(0, beyond < 0 ? Infinity : beyond);
  }

  #settle({ bytes, resolve, reject }: WaitingAppend, outcome: AppendOutcome | undefined): void {
    this.#streamBytes -= bytes;
    if (outcome?.fenced) reject(new RollcallError("FENCED", outcome.fenced));
    else resolve(outcome?.heads ?? []);
  }

  /** With them fail the appends that wait to write to the same streams: they come after. */
  #fail(appends: readonly WaitingAppend[], error: unknown): void {
    const failed = new Set(appends.flatMap(streamsOf));
    const isBehind = (waiting: WaitingAppend): boolean => {
      const streams = streamsOf(waiting);
      if (!streams.some((stream) => failed.has(stream))) return false;
      for (const stream of streams) failed.add(stream);
      return true;
    };
    const behind = new Set(this.#appends.filter(isBehind));
    this.#appends = this.#appends.filter((waiting) => !behind.has(waiting));
    for (const { bytes, reject } of [...appends, ...behind]) {
      this.#streamBytes -= bytes;
      reject(error);
    }
  }
}

function callOf<Call>({ call }: { readonly call: Call }): Call {
  return call;
}

function streamsOf({ call }: WaitingAppend): readonly string[] {
  return call.streams.names;
}

function bytesOf({ streams }: Append): number {
  return streams.texts.reduce((bytes, { length }) => bytes + length, 0);
}
