/**
 * Messages as they stand in JetStream. An append to the log is one message, and so is what it
 * writes to one stream: entries joined by newlines, and in headers how they count.
 *
 *   Rc-Head      the sequence, or the position, of the last entry up to here
 *   Rc-Count     how many entries the message has
 *   Rc-Id        of the append
 *   Rc-Previous  log: the append that wrote the entry before
 *   Rc-Log       log: the id of the log
 *   Rc-Trimmed   stream: the position of the last entry that was trimmed
 *   Rc-Life      stream: drawn when it began; another one, if it was removed and began anew
 *
 * A sign of life and the mark that trimming leaves have no entries.
 */
import type { Message } from "./driver.ts";
import { damaged } from "./failure.ts";

export interface StoredMessage {
  readonly subject: string;
  readonly sequence: number;
  readonly head: number;
  readonly count: number;
  readonly id: string;
  readonly previous: string;
  readonly logId: string;
  readonly trimmed: number;
  readonly life: string;
  /** Whether others follow it that were written with it. */
  readonly hasMore: boolean;
  readonly data: Uint8Array;
}

/** Of a direct answer of the server, or of what it repeats. */
export function storedOf(message: Message): StoredMessage {
  const header = (name: string) => message.header(name);
  return stored(header, {
    subject: header("Nats-Subject"),
    sequence: Number(header("Nats-Sequence")),
    data: message.data,
  });
}

/** As `STREAM.MSG.GET` gives it. */
export interface EncodedMessage {
  readonly subject: string;
  readonly seq: number;
  readonly hdrs?: string;
  readonly data?: string;
}

export function decodedOf({ subject, seq, hdrs = "", data = "" }: EncodedMessage): StoredMessage {
  const headers = new Map(
    Buffer.from(hdrs, "base64")
      .toString()
      .split("\r\n")
      .map((line) => {
        const at = line.indexOf(":");
        return [line.slice(0, at), line.slice(at + 1).trim()] as const;
      }),
  );
  const header = (name: string) => headers.get(name) ?? "";
  return stored(header, { subject, sequence: seq, data: Buffer.from(data, "base64") });
}

function stored(
  header: (name: string) => string,
  place: Pick<StoredMessage, "subject" | "sequence" | "data">,
): StoredMessage {
  return {
    ...place,
    head: Number(header("Rc-Head")),
    count: Number(header("Rc-Count")),
    id: decodeURIComponent(header("Rc-Id")),
    previous: decodeURIComponent(header("Rc-Previous")),
    logId: header("Rc-Log"),
    trimmed: Number(header("Rc-Trimmed")),
    life: header("Rc-Life"),
    hasMore: header("Nats-Batch-Id") !== "" && header("Nats-Batch-Commit") === "",
  };
}

/** The append that wrote the head after this message. */
export function lastIdOf({ count, id, previous }: StoredMessage): string {
  return count > 0 ? id : previous;
}

/** Where the log stands, by its last message. */
export interface LogEnd {
  readonly head: number;
  readonly mark: number;
  readonly lastId: string;
}

export function endOf(message: StoredMessage): LogEnd {
  return { head: message.head, mark: message.sequence, lastId: lastIdOf(message) };
}

export function firstOf({ head, count }: StoredMessage): number {
  return head - count + 1;
}

/** The entries of a message that come after `after`. */
export function entriesOf(message: StoredMessage, after: number, place: string): string[] {
  const { count, data, subject } = message;
  if (count === 0) return [];
  const texts = Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString().split("\n");
  if (texts.length !== count) {
    const what = `${texts.length} entries instead of ${count} up to ${message.head} of ${subject}`;
    throw damaged(place, what);
  }
  return texts.slice(Math.max(0, after + 1 - firstOf(message)));
}

export interface LogHeaders {
  readonly head: number;
  readonly count: number;
  readonly id: string;
  readonly previous: string;
  readonly logId: string;
}

export function logHeaders({ head, count, id, previous, logId }: LogHeaders) {
  return {
    "Rc-Head": String(head),
    "Rc-Count": String(count),
    "Rc-Id": encodeURIComponent(id),
    "Rc-Previous": encodeURIComponent(previous),
    "Rc-Log": logId,
  };
}

export interface StreamHeaders {
  readonly head: number;
  readonly count: number;
  readonly id: string;
  readonly trimmed: number;
  readonly life: string;
}

export function streamHeaders({ head, count, id, trimmed, life }: StreamHeaders) {
  return {
    "Rc-Head": String(head),
    "Rc-Count": String(count),
    "Rc-Id": encodeURIComponent(id),
    "Rc-Trimmed": String(trimmed),
    "Rc-Life": life,
  };
}
