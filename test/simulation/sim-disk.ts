/**
 * What is durable, and nothing else: where all handles of one simulated log meet. It forgets
 * towards the engines what was truncated, but keeps everything for the checks: who wrote what,
 * when.
 */
import type { RollcallError } from "../../src/core/errors.ts";
import { fenceAt, fenceOf } from "../../src/log/entries.ts";
import type { AppendBatch, LogBatch, LogPosition } from "../../src/log/log.ts";
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
  /** The append that it was written by, and the mark after it. */
  readonly id: string;
  readonly mark: number;
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

/** Where an append goes, and whose it is. */
export interface Append {
  readonly at: LogPosition;
  readonly id: string;
  readonly writer: string;
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
  mark = 0;
  /** The newest append, with entries or without. */
  #newestId = "";
  /** Appends, those of nothing too. */
  writes = 0;
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
  write(batch: AppendBatch, { at, id, writer }: Append): LogPosition | RollcallError {
    const { entries, streams = [] } = batch;
    const known = this.#known(at, id);
    if (known) return known;
    const refusal =
      fenceAt(this.position, at) ?? fenceOf(streams, (stream) => headOf(this.streams, stream));
    if (refusal) return refusal;
    this.mark = this.#shared ? this.mark + 1 : this.head + entries.length;
    this.#newestId = id;
    const { mark } = this;
    const { steps: step, nowMs: virtualMs } = this.#scheduler;
    for (const append of streams) {
      push(this.streams, append);
      this.#archiveEntries(append, step);
    }
    for (const text of entries) {
      const sequence = this.head + 1;
      this.archive.push({ sequence, text, writer, step, virtualMs, id, mark });
      // Alone it leads at once; else it first waits, and proves itself when it begins.
      const actsFromMs = this.#shared ? Infinity : virtualMs;
      if (isClaim(text)) this.terms.push({ node: writer, sequence, actsFromMs });
      this.#transcript.say("log", `${sequence} by ${writer}: ${text}`);
      this.#transcript.count("event", /"type":"([^"]+)"/.exec(text)?.[1] ?? "unknown");
    }
    this.writes += 1;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
    return this.position;
  }

  get position(): LogPosition {
    return { head: this.head, mark: this.mark };
  }

  /** Where the log stood after this append, if it is there already. */
  #known(at: LogPosition, id: string): LogPosition | undefined {
    if (this.#newestId === id) return this.position;
    const next = this.archive[at.head];
    if (next?.id !== id) return undefined;
    return { head: this.#endOfAppend(next.sequence), mark: next.mark };
  }

  /** The append that wrote an entry; undefined when there is no such entry. */
  idAt(sequence: number): string | undefined {
    return sequence === 0 ? "" : this.archive[sequence - 1]?.id;
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

  /** The entries after `after`, about up to `through`: never a part of an append. */
  batch(after: number, through: number): LogBatch {
    const end = this.#endOfAppend(through);
    const entries = this.archive.slice(after, end).map(({ text }) => text);
    const { id = "", mark = 0 } = this.archive[end - 1] ?? {};
    return { first: after + 1, entries, mark, id, previous: this.idAt(after) ?? "" };
  }

  /** The end of the append that `sequence` belongs to. */
  #endOfAppend(sequence: number): number {
    let end = Math.min(sequence, this.head);
    while (end < this.head && this.archive[end]?.id === this.archive[end - 1]?.id) end += 1;
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
