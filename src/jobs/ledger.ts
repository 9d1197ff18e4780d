/**
 * The ledger: who is here and what they run, as records that change rarely. A record is written
 * whole when it is new and by small changes after that; reading the stream from its beginning
 * rebuilds everything, so a start costs what the ledger holds and not what ever happened.
 *
 *   | job 1 | session 7 | job 1 ended | job 2 | … | job 1 (whole, again) | …
 *     └─ trimmed once every living record stands further right
 *
 * There is no moment of a big snapshot: whenever the ledger is several times as long as what
 * lives, a few of the oldest records are written again at its end and what lies before the oldest
 * one left is forgotten.
 */
import type { Recorder, StreamListener } from "./recorder.ts";
import { LEDGER } from "./limits.ts";

/** Something that lives in the ledger. */
export interface LedgerRecord {
  /** All of it, as an entry of its own. */
  entry(): object;
}

export class Ledger implements StreamListener {
  readonly #recorder: Recorder;
  readonly #stream: string;
  /** Where the whole of each stands; in that order. */
  readonly #places = new Map<LedgerRecord, number>();
  #head = 0;
  #oldest = 1;
  #isTrimming = false;

  constructor(recorder: Recorder, stream: string) {
    this.#recorder = recorder;
    this.#stream = stream;
  }

  /** Gives each entry that is there, once, before anything is written. */
  async *open(): AsyncGenerator<{ readonly entry: unknown; readonly place: number }> {
    const { oldest, head } = await this.#recorder.journal.range(this.#stream);
    this.#oldest = oldest;
    this.#head = head;
    for await (const { position, entry } of this.#recorder.read(this.#stream, oldest - 1)) {
      yield { entry: JSON.parse(entry) as unknown, place: position };
    }
  }

  /** All that was read is placed. */
  ready(): void {
    const sorted = [...this.#places].sort(([, a], [, b]) => a - b);
    this.#places.clear();
    for (const [record, place] of sorted) this.#places.set(record, place);
  }

  /** A record read by `open` stands there. */
  place(record: LedgerRecord, place: number): void {
    this.#places.delete(record);
    this.#places.set(record, place);
  }

  put(record: LedgerRecord): void {
    this.#write(record.entry());
    this.place(record, this.#head);
  }

  /** A change of a record; it stands after the whole of it, so it goes when that is rewritten. */
  change(entry: object): void {
    this.#write(entry);
  }

  /** The record is gone, as the entry says. */
  drop(record: LedgerRecord, entry: object): void {
    if (this.#places.delete(record)) this.#write(entry);
  }

  get length(): number {
    return this.#head - this.#oldest + 1;
  }

  #write(entry: object): void {
    this.#head += 1;
    this.#recorder.append(this.#stream, JSON.stringify(entry), this);
  }

  /** Entries became durable: the moment to forget some and to write some of the oldest again. */
  onRecorded(): void {
    if (this.length <= LEDGER.minEntries + LEDGER.slack * this.#places.size) return;
    this.#trim();
    let left: number = LEDGER.rewrites;
    for (const record of this.#places.keys()) {
      if (left === 0) break;
      left -= 1;
      this.put(record);
    }
  }

  #trim(): void {
    if (this.#isTrimming) return;
    // What was rewritten this very turn is not durable yet, so the old whole of it still counts.
    const durable = this.#head - this.#recorder.pending(this.#stream).length;
    const first = this.#places.values().next().value ?? durable + 1;
    const through = Math.min(first - 1, durable);
    if (through < this.#oldest + LEDGER.trimEntries - 1) return;
    this.#isTrimming = true;
    this.#recorder.journal.trim(this.#stream, through).then(
      () => {
        this.#oldest = through + 1;
        this.#isTrimming = false;
      },
      // It is tried again by the next batch.
      () => {
        this.#isTrimming = false;
      },
    );
  }
}
