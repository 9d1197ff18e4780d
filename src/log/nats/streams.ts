/** The streams of the NATS store; the contract is in ../streams.ts. */
import { RollcallError } from "../../core/errors.ts";
import { checkReach } from "../entries.ts";
import { SharedStreams } from "../shared-streams.ts";
import type { NamedRange, StreamBatch, StreamRange } from "../streams.ts";
import type { Writer } from "../writer.ts";
import { damaged } from "./failure.ts";
import { headOf, lastMessages } from "./heads.ts";
import type { StreamInfo } from "./layout.ts";
import { NATS } from "./limits.ts";
import { locate, pageOf } from "./locate.ts";
import { lastOf } from "./moment.ts";
import { streamOf, subjectOf, subjectsOf } from "./names.ts";
import type { NatsSession } from "./session.ts";
import { entriesOf, firstOf, type StoredMessage } from "./stored.ts";

export class NatsStreams extends SharedStreams {
  readonly #session: NatsSession;

  constructor(session: NatsSession, writer: Writer) {
    super(session, writer);
    this.#session = session;
  }

  async *read(stream: string, after: number): AsyncGenerator<StreamBatch> {
    this.#session.checkOpen();
    const what = `stream ${stream}`;
    const subject = subjectOf(this.#session.names, stream);
    const last = await lastOf(this.#session, subject);
    const { head: through, trimmed } = headOf(last);
    checkReach(what, after, trimmed + 1);
    if (!last || after >= through) return;
    const range = { subject, last };
    // Most readers have all but the last message.
    const isLast = last.count > 0 && firstOf(last) <= after + 1;
    const first = isLast ? last : await locate(this.#session, range, after + 1);
    let page: readonly StoredMessage[] = isLast ? [last] : [];
    let from = first?.sequence ?? last.sequence + 1;
    for (let at = after; at < through;) {
      if (page.length === 0) page = await pageOf(this.#session, range, from);
      const entries = this.#entriesOf(page, at);
      if (entries.length === 0) throw await this.#missing(stream, at);
      from = (page.at(-1)?.sequence ?? 0) + 1;
      page = [];
      yield { first: at + 1, entries };
      at += entries.length;
    }
  }

  #entriesOf(page: readonly StoredMessage[], after: number): string[] {
    const entries: string[] = [];
    for (const message of page) {
      if (message.count > 0 && firstOf(message) > after + entries.length + 1) break;
      const next = entriesOf(message, after + entries.length, this.#session.place);
      for (const entry of next) entries.push(entry);
    }
    return entries;
  }

  async #missing(stream: string, after: number): Promise<RollcallError> {
    const subject = subjectOf(this.#session.names, stream);
    const { oldest, head } = rangeOf(await this.#session.lastOf(subject));
    if (oldest > after + 1 || head <= after) {
      return new RollcallError("OUT_OF_RANGE", `stream ${stream} was truncated after ${after}`);
    }
    const what = `entry ${after + 1} of stream ${stream} is missing`;
    return damaged(this.#session.place, what);
  }

  async range(stream: string): Promise<StreamRange> {
    this.#session.checkOpen();
    return rangeOf(await lastOf(this.#session, subjectOf(this.#session.names, stream)));
  }

  async *ranges(prefix: string): AsyncGenerator<NamedRange> {
    this.#session.checkOpen();
    const { names } = this.#session;
    const { subjects, upTo } = await this.#subjects(subjectsOf(names, prefix));
    const found = subjects
      .map((subject) => ({ subject, stream: streamOf(names, subject) }))
      .filter(({ stream }) => stream.startsWith(prefix))
      .toSorted((a, b) => Buffer.compare(Buffer.from(a.stream), Buffer.from(b.stream)));
    if (this.#session.moment) {
      // One by one: trimming goes on meanwhile.
      for (const { subject, stream } of found) {
        const message = await lastOf(this.#session, subject);
        if (message) yield { stream, ...rangeOf(message) };
      }
      return;
    }
    for (let at = 0; at < found.length; at += NATS.listStreams) {
      const asked = found.slice(at, at + NATS.listStreams);
      const all = asked.map(({ subject }) => subject);
      const messages = await lastMessages(this.#session, all, upTo);
      const bySubject = new Map(messages.map((message) => [message.subject, message]));
      for (const { subject, stream } of asked) {
        const message = bySubject.get(subject);
        if (message) yield { stream, ...rangeOf(message) };
      }
    }
  }

  /** All subjects of such streams, and the sequence that the leader had come to. */
  async #subjects(filter: string): Promise<{ readonly subjects: string[]; readonly upTo: number }> {
    const subjects: string[] = [];
    for (;;) {
      const request = { subjects_filter: filter, offset: subjects.length };
      const info = await this.#session.run((connection) =>
        connection.call<StreamInfo>(`STREAM.INFO.${this.#session.names.stream}`, request),
      );
      const page = Object.keys(info.state.subjects ?? {});
      for (const subject of page) subjects.push(subject);
      if (page.length === 0 || subjects.length >= (info.total ?? 0)) {
        return { subjects, upTo: info.state.last_seq };
      }
    }
  }
}

function rangeOf(message: StoredMessage | undefined): StreamRange {
  const { head, trimmed } = headOf(message);
  return { oldest: trimmed + 1, head };
}
