/** The streams of a simulated log, reached as late and as badly as the log itself. */
import type { RollcallError } from "../../src/core/errors.ts";
import { checkBatch, checkEntries, checkStream, fenceOf } from "../../src/log/entries.ts";
import { headOf, MemoryStreams, push, trim } from "../../src/log/memory/streams.ts";
import type { StreamMap } from "../../src/log/memory/streams.ts";
import type { Store } from "../../src/log/store.ts";
import type {
  NamedRange,
  StreamAppend,
  StreamBatch,
  StreamRange,
  Streams,
} from "../../src/log/streams.ts";
import { SimLink, type SimLinkOptions } from "./sim-link.ts";
import { SimLog } from "./sim-log.ts";

export function simStore(options: SimLinkOptions): Store {
  const link = new SimLink(options);
  const log = new SimLog(link);
  const streams = new SimStreams(link);
  return { description: "simulated", log, streams, close: () => log.close() };
}

class SimStreams implements Streams {
  readonly #link: SimLink;
  /** The durable entries, without the way there. */
  readonly #durable: MemoryStreams;

  constructor(link: SimLink) {
    this.#link = link;
    this.#durable = new MemoryStreams(link.options.disk.streams, () => link.checkOpen());
  }

  async append(stream: string, entries: readonly string[], expectedHead?: number): Promise<number> {
    checkStream(stream);
    checkEntries(entries);
    const append = { stream, entries, ...(expectedHead !== undefined && { expectedHead }) };
    const [head = 0] = await this.#append([append]);
    return head;
  }

  async appendAll(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    checkBatch({ entries: [], streams: appends });
    return this.#append(appends);
  }

  async #append(appends: readonly StreamAppend[]): Promise<readonly number[]> {
    this.#link.checkOpen();
    const { streams } = this.#link.options.disk;
    const perform = (): readonly number[] | RollcallError =>
      fenceOf(appends, (stream) => headOf(streams, stream)) ??
      appends.map((append) => push(streams, append));
    const names = appends.map(({ stream }) => stream);
    return this.#link.send({ perform, streams: names, isNotable: true });
  }

  async *read(stream: string, after: number): AsyncGenerator<StreamBatch> {
    this.#link.checkOpen();
    await this.#link.reach("failRead", "read failed");
    yield* this.#durable.read(stream, after);
  }

  async range(stream: string): Promise<StreamRange> {
    this.#link.checkOpen();
    await this.#link.reach("failRead", "read failed");
    return this.#durable.range(stream);
  }

  async *ranges(prefix: string): AsyncGenerator<NamedRange> {
    this.#link.checkOpen();
    await this.#link.reach("failRead", "read failed");
    yield* this.#durable.ranges(prefix);
  }

  async trim(stream: string, through: number): Promise<void> {
    await this.#change([stream], (streams) => trim(streams, stream, through));
  }

  async remove(...names: readonly string[]): Promise<void> {
    await this.#change(names, (streams) => {
      for (const name of names) streams.delete(name);
    });
  }

  async #change(names: readonly string[], change: (streams: StreamMap) => void): Promise<void> {
    this.#link.checkOpen();
    const perform = () => change(this.#link.options.disk.streams);
    await this.#link.send({ perform, streams: names, isNotable: false });
  }
}
