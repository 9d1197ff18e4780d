/**
 * The heads of streams, as far as this store has seen them. A wrong one does no harm: each write to
 * a stream names the sequence that it follows, and is refused when another one was there first.
 */
import { randomUUID } from "node:crypto";
import { fenced, joinEntries } from "../entries.ts";
import type { StreamAppend } from "../streams.ts";
import type { Headers, Outgoing } from "./driver.ts";
import { NATS } from "./limits.ts";
import { subjectOf } from "./names.ts";
import { expecting } from "./send.ts";
import type { NatsSession } from "./session.ts";
import { storedOf, streamHeaders, type StoredMessage } from "./stored.ts";

export interface StreamHead {
  readonly head: number;
  readonly trimmed: number;
  readonly life: string;
  /** Of its last message in JetStream; 0 when there is none. */
  readonly sequence: number;
}

export class Heads {
  readonly #session: NatsSession;
  readonly #known = new Map<string, StreamHead>();

  constructor(session: NatsSession) {
    this.#session = session;
  }

  /** As the leader has it. */
  async fresh(stream: string): Promise<StreamHead> {
    const message = await this.#session.lastOf(subjectOf(this.#session.names, stream));
    return this.#keep(stream, headOf(message));
  }

  forget(streams: readonly string[]): void {
    for (const stream of streams) this.#known.delete(stream);
  }

  /** The messages of an append to streams. Rejects with FENCED at an unexpected head. */
  async messagesOf(parts: readonly StreamAppend[], id: string): Promise<readonly Outgoing[]> {
    await this.#learn(parts.map(({ stream }) => stream));
    const messages: Outgoing[] = [];
    for (const { stream, entries, expectedHead } of parts) {
      let known = this.#known.get(stream) ?? NEW;
      if (expectedHead !== undefined && expectedHead !== known.head) {
        known = await this.fresh(stream);
        if (expectedHead !== known.head) {
          throw fenced(`stream ${stream}`, known.head, expectedHead);
        }
      }
      const { head, trimmed, sequence } = known;
      const life = known.life || randomUUID().slice(0, 8);
      const body = joinEntries(entries);
      const count = entries.length;
      const headers = {
        ...streamHeaders({ head: head + count, count, id, trimmed, life }),
        ...expecting(sequence),
      };
      messages.push({ subject: subjectOf(this.#session.names, stream), body, headers });
    }
    return messages;
  }

  /** These were written, the first of them at this sequence; gives the new heads. */
  written(
    parts: readonly StreamAppend[],
    messages: readonly Outgoing[],
    first: number,
  ): readonly number[] {
    return parts.map(({ stream }, index) => {
      const headers: Headers = messages[index]?.headers ?? {};
      const kept = this.#keep(stream, {
        head: Number(headers["Rc-Head"]),
        trimmed: Number(headers["Rc-Trimmed"]),
        life: headers["Rc-Life"] ?? "",
        sequence: first + index,
      });
      return kept.head;
    });
  }

  /** Asks for the last messages of those that are not known, by any server. */
  async #learn(streams: readonly string[]): Promise<void> {
    const { names } = this.#session;
    const unknown = streams.filter((stream) => !this.#known.has(stream));
    for (let at = 0; at < unknown.length; at += NATS.listStreams) {
      const asked = unknown.slice(at, at + NATS.listStreams);
      const bySubject = new Map(asked.map((stream) => [subjectOf(names, stream), stream]));
      for (const message of await lastMessages(this.#session, [...bySubject.keys()])) {
        const stream = bySubject.get(message.subject);
        if (stream !== undefined) this.#keep(stream, headOf(message));
      }
      for (const stream of asked) if (!this.#known.has(stream)) this.#keep(stream, NEW);
    }
  }

  #keep(stream: string, head: StreamHead): StreamHead {
    this.#known.delete(stream);
    this.#known.set(stream, head);
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= NATS.heads) break;
      this.#known.delete(oldest);
    }
    return head;
  }
}

const NEW: StreamHead = { head: 0, trimmed: 0, life: "", sequence: 0 };

export function headOf(message: StoredMessage | undefined): StreamHead {
  if (!message) return NEW;
  const { head, trimmed, life, sequence } = message;
  return { head, trimmed, life, sequence };
}

/** Those of them that have any, as far as a page goes: asked on behind its last one. */
export async function lastMessages(
  session: NatsSession,
  subjects: readonly string[],
  upTo?: number,
): Promise<readonly StoredMessage[]> {
  const found: StoredMessage[] = [];
  let from = 1;
  for (;;) {
    const request = { multi_last: subjects, seq: from, max_bytes: 8 * NATS.pageBytes };
    const messages = await session.direct(session.names.stream, request);
    const end = messages.pop();
    const isBehind = upTo !== undefined && Number(end?.header("Nats-UpTo-Sequence") ?? 0) < upTo;
    if (isBehind) return Promise.all(subjects.map((each) => session.lastOf(each))).then(present);
    for (const message of messages) found.push(storedOf(message));
    const last = found.at(-1);
    if (messages.length === 0 || !last || Number(end?.header("Nats-Num-Pending")) === 0) {
      return found;
    }
    from = last.sequence + 1;
  }
}

function present(messages: readonly (StoredMessage | undefined)[]): readonly StoredMessage[] {
  return messages.filter((message) => message !== undefined);
}
