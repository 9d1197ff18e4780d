/**
 * What a log is called in NATS: two streams of JetStream, and the subjects in them. A stream of
 * ours is a subject of its own, readable for operators: `job/7f3a` is `…stream.job.7f3a`.
 */
import { RollcallError } from "../../core/errors.ts";
import { NATS } from "./limits.ts";

export interface Names {
  /** Log, streams of ours, and what is known of snapshots: one stream, so that one write can
   * go to several. */
  readonly stream: string;
  readonly snapshots: string;
  readonly entries: string;
  readonly sign: string;
  /** Both of them: each append moves the last sequence of this. */
  readonly log: string;
  readonly meta: string;
  readonly allStreams: string;
  readonly allSnapshots: string;
  /** Where the server repeats what was appended to the log. */
  readonly heard: string;
  readonly heardRule: string;
  /** All that the stream of a log that was moved away takes: nobody writes there. */
  readonly moved: string;
}

export function namesOf(name: string): Names {
  const root = `rollcall.${name}`;
  return {
    stream: `rollcall_${name}`,
    snapshots: `rollcall_${name}_snapshots`,
    entries: `${root}.log.entries`,
    sign: `${root}.log.sign`,
    log: `${root}.log.*`,
    meta: `${root}.meta`,
    allStreams: `${root}.stream.>`,
    allSnapshots: `${root}.snapshot.>`,
    heard: `${root}.heard.*`,
    heardRule: `${root}.heard.{{wildcard(1)}}`,
    moved: `${root}.moved`,
  };
}

/** The subject of a stream: its parts between slashes are tokens. */
export function subjectOf({ allStreams }: Names, stream: string): string {
  const subject = allStreams.replace(">", stream.split("/").map(tokenOf).join("."));
  if (subject.length <= NATS.subjectBytes) return subject;
  const message = `the name of stream ${stream.slice(0, 80)}… is too long for NATS`;
  throw new RollcallError("INVALID_ARGUMENT", message);
}

/** The subjects of all streams that may begin so. */
export function subjectsOf({ allStreams }: Names, prefix: string): string {
  const whole = prefix.split("/").slice(0, -1).map(tokenOf);
  return allStreams.replace(">", [...whole, ">"].join("."));
}

export function streamOf({ allStreams }: Names, subject: string): string {
  const tokens = subject.slice(allStreams.length - 1).split(".");
  return tokens.map(textOf).join("/");
}

/** Bytes that mean something to NATS, or nothing to people, are written as `=7E`. */
function tokenOf(text: string): string {
  if (text === "") return EMPTY;
  return text.replaceAll(/[^A-Za-z0-9_-]+/gu, (other) =>
    [...Buffer.from(other)].map((byte) => `=${byte.toString(16).padStart(2, "0")}`).join(""),
  );
}

const EMPTY = "=";

function textOf(token: string): string {
  if (token === EMPTY) return "";
  return token.replaceAll(/(?:=[\da-f]{2})+/g, (bytes) =>
    Buffer.from(bytes.replaceAll("=", ""), "hex").toString(),
  );
}
