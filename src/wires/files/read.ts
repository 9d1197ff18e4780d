/**
 * Status files read as what they are: written by programs we do not know, perhaps half, perhaps by
 * an attacker. A file that cannot be believed is refused with one sentence; the others are read.
 *
 * Opening never blocks (a FIFO without a writer) and never follows a link out of the folder;
 * what is no plain file, or too big, is not read at all. All of it is synchronous: the files are
 * small, and a promise for each would take longer than reading it.
 */
import { isUtf8 } from "node:buffer";
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readSync,
  statSync,
} from "node:fs";
import { JSON_DEPTH } from "../../core/json.ts";
import { pathIn, statusFolder } from "./folder.ts";
import type { Status } from "./format.ts";
import { readStatusJson, withPlainNumbers } from "./json-read.ts";
import { inCodePointOrder } from "./json-text.ts";
import { FRESHNESS, STATUS_FOLDER, STATUS_FILE } from "./limits.ts";
import { systemCode, systemError } from "../../machine/system-error.ts";
import { timestampMs } from "./timestamp.ts";
import { validate } from "./validate.ts";

export interface StatusFile {
  readonly kind: "status";
  readonly path: string;
  readonly status: Status;
  /** When it was updated. Not in the future: then it is when the file was written. */
  readonly updatedAtMs: number;
  /** Its oddities, though it can be read. */
  readonly oddities: readonly Oddity[];
}

/** Its agent_id is not what the file is called; its time is ahead of this machine's clock. */
export type Oddity = "misnamed" | "ahead";

export interface RefusedFile {
  readonly kind: "refused";
  readonly path: string;
  /** Which promise it broke: gone in the meantime, no plain file, not JSON, not a status. */
  readonly reason: "missing" | "unreadable" | "json" | "status";
  readonly problems: readonly string[];
}

export type StatusReading = StatusFile | RefusedFile;

export interface ReadOptions {
  readonly nowMs?: number;
  /** Its folder says that it is a plain file: one question less for each of thousands. */
  readonly isFile?: boolean;
}

export function readStatus(path: string, options: ReadOptions = {}): StatusReading {
  const read = readText(path, options);
  if (!("text" in read)) return { kind: "refused", path, ...read };
  const parsed = parseStatus(read.text);
  if (!("status" in parsed)) return { kind: "refused", path, ...parsed };
  const { status } = parsed;
  const nowMs = options.nowMs ?? Date.now();
  const saidMs = timestampMs(status.runtime.updated_at);
  const isAhead = saidMs > nowMs + FRESHNESS.aheadMs;
  const oddities: Oddity[] = [];
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name !== `${status.agent_id}.json`) oddities.push("misnamed");
  if (isAhead) oddities.push("ahead");
  const updatedAtMs = Math.min(saidMs, isAhead ? writtenAtMs(path, nowMs) : nowMs, nowMs);
  return { kind: "status", path, status, updatedAtMs, oddities };
}

function writtenAtMs(path: string, nowMs: number): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? nowMs;
}

/** All files of a folder, newest first, and behind them those that were refused. */
export function readStatusDir(
  folder: string = statusFolder(),
  options: ReadOptions = {},
): readonly StatusReading[] {
  const { nowMs = Date.now() } = options;
  const { names, overfull, files } = statusNames(folder);
  const readings = names.map((name) =>
    readStatus(pathIn(folder, name), { nowMs, isFile: files.has(name) }),
  );
  const there = readings.filter((each) => each.kind === "status" || each.reason !== "missing");
  return [...there.toSorted((a, b) => ageRank(b) - ageRank(a)), ...overfull];
}

function ageRank(reading: StatusReading): number {
  return reading.kind === "status" ? reading.updatedAtMs : -Number.MAX_VALUE;
}

export interface StatusNames {
  readonly names: readonly string[];
  /** The names that are known to be plain files. */
  readonly files: ReadonlySet<string>;
  /** The refusal in place of those that are too many. */
  readonly overfull: readonly RefusedFile[];
}

/** The files to be read, in the order of their names; none without a folder. */
export function statusNames(folder: string, most: number = STATUS_FOLDER.files): StatusNames {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const found = entries.filter(({ name }) => name.endsWith(".json"));
    const names = found.map(({ name }) => name);
    const files = new Set<string>();
    for (const entry of found) if (entry.isFile()) files.add(entry.name);
    const problems = [`holds ${names.length} files, of which the first ${most} are read`];
    const refused: RefusedFile = {
      kind: "refused",
      path: folder,
      reason: "unreadable",
      problems,
    };
    const overfull = names.length > most ? [refused] : [];
    return { names: inCodePointOrder(names).slice(0, most), files, overfull };
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes(systemCode(error))) return NOBODY;
    throw systemError(`read ${folder}`, error);
  }
}

const NOBODY: StatusNames = { names: [], files: new Set(), overfull: [] };

type ReadRefusal = Pick<RefusedFile, "reason" | "problems">;

/** Why a text is no status, or the status. */
export function parseStatus(text: string): { readonly status: Status } | ReadRefusal {
  const parsed = parseJson(text);
  if ("reason" in parsed) return parsed;
  const problems = validate(parsed.exact ?? parsed.value);
  if (problems.length > 0) return { reason: "status", problems };
  // Everything that the type says was checked.
  return { status: parsed.value as Status };
}

/** The one number whose form matters, in a form that the fast way does not see: 7.0 is no id. */
const ODD_PID = /"pid"\s*:\s*-?\d+[.eE]/;

interface ParsedJson {
  readonly value: unknown;
  /** With numbers as they were written, where that makes a difference. */
  readonly exact?: unknown;
}

function parseJson(text: string): ParsedJson | ReadRefusal {
  try {
    const value: unknown = JSON.parse(text);
    if (!ODD_PID.test(text) && !mayBeDeep(text)) return { value };
  } catch {
    // The other reader says why, or takes it.
  }
  const read = readStatusJson(text);
  if (!read.ok) return { reason: "json", problems: [read.problem] };
  return { value: withPlainNumbers(read.value), exact: read.value };
}

/** A text with few brackets cannot nest deep; the other reader looks closely. */
function mayBeDeep(text: string): boolean {
  return countOf("{", text) + countOf("[", text) > JSON_DEPTH;
}

function countOf(bracket: string, text: string): number {
  let count = 0;
  for (let at = text.indexOf(bracket); at !== -1; at = text.indexOf(bracket, at + 1)) count += 1;
  return count;
}

export interface FileReadOptions {
  /** By a person: then links are followed, and pipes waited for. */
  readonly isNamed?: boolean;
  readonly isFile?: boolean;
}

const STANDARD_INPUT = 0;

/** Shared by all reads: nothing waits in between. */
let buffer = Buffer.allocUnsafe(64 * 1024);

export function readText(
  path: string,
  { isNamed = false, isFile = false }: FileReadOptions = {},
): { readonly text: string } | ReadRefusal {
  const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = constants;
  const isInput = isNamed && ["-", "/dev/stdin"].includes(path);
  let file: number | undefined;
  try {
    const flags = isNamed ? O_RDONLY : O_RDONLY | O_NONBLOCK | O_NOFOLLOW;
    file = isInput ? STANDARD_INPUT : openSync(path, flags);
    if (!isFile) {
      const stats = fstatSync(file);
      if (stats.isDirectory()) return unreadable("is a directory");
      if (!stats.isFile() && !isNamed) return unreadable("is no file");
      if (stats.size > STATUS_FILE.bytes) return unreadable(tooBig(stats.size));
    }
    const length = readWhole(file, !isNamed);
    if (length > STATUS_FILE.bytes) {
      return unreadable(tooBig(Math.max(length, fstatSync(file).size)));
    }
    const text = buffer.toString("utf8", 0, length);
    // Invalid bytes are read as this character, which may also be meant.
    if (text.includes("\ufffd") && !isUtf8(buffer.subarray(0, length))) {
      return unreadable("is not UTF-8");
    }
    return { text };
  } catch (error) {
    return refusedBySystem(error as NodeJS.ErrnoException);
  } finally {
    if (file !== undefined && !isInput) closeSync(file);
  }
}

/** To its end, or one byte more than is allowed. A file gives all there is, a pipe may not. */
function readWhole(file: number, isFile: boolean): number {
  let length = 0;
  for (;;) {
    if (length === buffer.length) buffer = Buffer.concat([buffer], buffer.length * 2);
    const room = Math.min(buffer.length, STATUS_FILE.bytes + 1) - length;
    const count = room > 0 ? readSync(file, buffer, length, room, null) : 0;
    length += count;
    if (count === 0 || (isFile && count < room)) return length;
  }
}

function unreadable(problem: string): ReadRefusal {
  return { reason: "unreadable", problems: [problem] };
}

function tooBig(bytes: number): string {
  return `has ${bytes} bytes or more, at most ${STATUS_FILE.bytes} are allowed`;
}

function refusedBySystem(error: NodeJS.ErrnoException): ReadRefusal {
  switch (error.code) {
    case "ENOENT":
    case "ENOTDIR":
      return { reason: "missing", problems: ["is not there"] };
    case "ELOOP":
    case "EMLINK":
      return unreadable("is a link");
    case "EACCES":
    case "EPERM":
      return unreadable("may not be read by this user");
    case "ENXIO":
      return unreadable("is no file");
    case undefined:
      throw error;
    default:
      return unreadable(`cannot be read: ${error.message}`);
  }
}
