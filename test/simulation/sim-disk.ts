/**
 * What is durable, and nothing else: where all handles of one simulated log meet. It forgets
 * towards the engines what was truncated, but keeps everything for the checks: who wrote what,
 * when.
 */
import type { RollcallError } from "../../src/core/errors.ts";
import { fenced, fenceOf } from "../../src/log/entries.ts";
import type { AppendBatch } from "../../src/log/log.ts";
import type { StreamAppend } from "../../src/log/streams.ts";
import { headOf, push, type StreamMap } from "../../src/log/memory/streams.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Transcript } from "./transcript.ts";

/** An entry that became durable. */
export interface Durable {
  readonly sequence: number;
  readonly text: string;
  /** The node whose append it was. */
  readonly writer: string;
  /** The step in which it became durable, at once with the rest of its append. */
  readonly step: number;
  readonly virtualMs: number;
}

/** An entry of a stream that became durable. */
export type DurableEntry = Pick<Durable, "text" | "step">;

/** A node's time of leading. */
export interface Term {
  readonly node: string;
  /** Of the claim. */
  readonly sequence: number;
  /** When it first acted as the leader; Infinity if it never did. */
  actsFromMs: number;
}

export class SimDisk {
  readonly #scheduler: Scheduler;
  readonly #transcript: Transcript;
  readonly #shared: boolean;
  readonly archive: Durable[] = [];
  readonly terms: Term[] = [];
  readonly snapshots = new Map<number, readonly string[]>();
  readonly streams: StreamMap = new Map();
  /** All that ever stood in streams, also in those that were removed. */
  readonly streamArchive = new Map<string, DurableEntry[]>();
  truncated = 0;
  /** Appends of nothing: signs of life. */
  signs = 0;
  /** Nothing gets through before this moment. */
  stalledUntilMs = 0;
  /** Everything is refused before this moment. */
  brokenUntilMs = 0;
  /** No room for appends before this moment. */
  fullUntilMs = 0;
  /** Who hears nothing of what others write, and until when. */
  readonly deafUntilMs = new Map<string, number>();
  #waiting: (() => void)[] = [];

  constructor(scheduler: Scheduler, transcript: Transcript, shared: boolean) {
    this.#scheduler = scheduler;
    this.#shared = shared;
    this.#transcript = transcript;
  }

  get head(): number {
    return this.archive.length;
  }

  /** The head, but for a claim to lead: it tells nobody anything before its node knows of it. */
  get toldHead(): number {
    return isClaim(this.archive.at(-1)?.text ?? "") ? this.head - 1 : this.head;
  }

  /** What the head was that long ago. */
  headBefore(ms: number): number {
    const untilMs = this.#scheduler.nowMs - ms;
    return this.archive.findLast(({ virtualMs }) => virtualMs < untilMs)?.sequence ?? 0;
  }

  get oldest(): number {
    return this.truncated + 1;
  }

  /** An append is asked for: whoever has claimed to lead does so from here on. */
  asked(node: string, entries: readonly string[], expectedHead: number): void {
    const term = this.terms.at(-1);
    if (term?.node !== node || term.sequence > expectedHead || entries.some(isClaim)) return;
    term.actsFromMs = Math.min(term.actsFromMs, this.#scheduler.nowMs);
  }

  /** The durable point: all or nothing; gives why not, when it is fenced. */
  write(batch: AppendBatch, expectedHead: number, writer: string): RollcallError | undefined {
    const { entries, streams = [] } = batch;
    if (expectedHead !== this.head) return fenced("the log", this.head, expectedHead);
    const refusal = fenceOf(streams, (stream) => headOf(this.streams, stream));
    if (refusal) return refusal;
    const { steps: step, nowMs: virtualMs } = this.#scheduler;
    for (const append of streams) {
      push(this.streams, append);
      this.#archiveEntries(append, step);
    }
    for (const text of entries) {
      const sequence = this.head + 1;
      this.archive.push({ sequence, text, writer, step, virtualMs });
      // Alone it leads at once; else it first waits, and proves itself when it begins.
      const actsFromMs = this.#shared ? Infinity : virtualMs;
      if (isClaim(text)) this.terms.push({ node: writer, sequence, actsFromMs });
      this.#transcript.say("log", `${sequence} by ${writer}: ${text}`);
      this.#transcript.count("event", /"type":"([^"]+)"/.exec(text)?.[1] ?? "unknown");
    }
    if (entries.length === 0) this.signs += 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
    return undefined;
  }

  #archiveEntries({ stream, entries }: StreamAppend, step: number): void {
    const archived = this.streamArchive.get(stream) ?? [];
    this.streamArchive.set(stream, archived);
    for (const text of entries) {
      archived.push({ text, step });
      this.#transcript.count("stream", text.split(" ", 3)[2] ?? "unknown");
    }
    this.#transcript.say("log", () => `${stream}: ${entries.join(" | ")}`);
  }

  slice(after: number, through: number): string[] {
    return this.archive.slice(after, through).map(({ text }) => text);
  }

  /** The end of the append that `sequence` belongs to. */
  endOfAppend(sequence: number): number {
    let end = Math.min(sequence, this.head);
    while (end < this.head && this.archive[end]?.step === this.archive[end - 1]?.step) end += 1;
    return end;
  }

  /** Calls once, when something was written. */
  onWrite(call: () => void): void {
    this.#waiting.push(call);
  }

  saveSnapshot(sequence: number, chunks: readonly string[]): void {
    this.snapshots.set(sequence, chunks);
    this.#transcript.count("seen", "snapshot");
    this.#transcript.say("log", `snapshot at ${sequence}`);
  }

  truncate(through: number): void {
    this.truncated = through;
    for (const at of this.snapshots.keys()) if (at < through) this.snapshots.delete(at);
    this.#transcript.count("seen", "truncation");
    this.#transcript.say("log", `truncated through ${through}`);
  }
}

function isClaim(text: string): boolean {
  return text.includes('"type":"node.leading"');
}
