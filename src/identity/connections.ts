/**
 * The users of TCP connections on this machine. Linux lists every connection in /proc/net/tcp and
 * tcp6, with the user that owns it; a loopback peer's own end is one of the lines.
 *
 *   sl local_address rem_address   st tx_queue:rx_queue tr:when    retrnsmt uid  timeout inode
 *   7: 0100007F:D431 0100007F:2382 01 00000000:00000000 00:00000000 00000000 1000      0 81922
 *
 * Only a line with an inode names a user: a socket that its process closed has none, and stands
 * there as if it were root's.
 */
import { closeSync, openSync, read } from "node:fs";
import { isIPv4 } from "node:net";
import { endianness } from "node:os";
import { bytesOfAddress, unmapped } from "../net/ip.ts";

/** Both ends of a connection, as the server's socket has them. */
export interface ConnectionEnds {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

/** The table of IPv4, and that of IPv6, which has mapped addresses, too. */
const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"] as const;
const CHUNK_BYTES = 64 << 10;

/** The lines that the peer's end of a connection may have, in the words of the tables. */
export function linesOf(ends: ConnectionEnds): readonly string[] {
  const peers = formsOf(ends.remoteAddress);
  const ours = formsOf(ends.localAddress);
  const ports = [hexPort(ends.remotePort), hexPort(ends.localPort)] as const;
  return peers.map((peer, form) => `${peer}:${ports[0]} ${ours[form] ?? ""}:${ports[1]}`);
}

/** Few: a server has few addresses of its own, and loopback peers have the same. */
const known = new Map<string, readonly string[]>();
const KNOWN_MOST = 256;

function formsOf(address: string): readonly string[] {
  const before = known.get(address);
  if (before) return before;
  if (known.size >= KNOWN_MOST) known.clear();
  const forms = hexFormsOf(address);
  known.set(address, forms);
  return forms;
}

/** An IPv4 address, also a mapped one, may stand in either table. */
function hexFormsOf(address: string): readonly string[] {
  const plain = unmapped(address);
  const forms = isIPv4(plain) ? [plain, `::ffff:${plain}`] : [plain];
  return forms.map((form) => hexWords([...bytesOfAddress(form)]));
}

/** The kernel prints words of four bytes as its processor has them. */
function hexWords(bytes: readonly number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += 4) {
    const word = bytes.slice(at, at + 4);
    if (endianness() === "LE") word.reverse();
    text += word.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  return text.toUpperCase();
}

function hexPort(port: number): string {
  return port.toString(16).padStart(4, "0").toUpperCase();
}

/** A connection whose user is looked for; it has one line in one of the tables. */
export interface Sought {
  readonly lines: readonly string[];
  uid?: number;
}

/**
 * Finds the users of connections, until all are known or the tables end. With ten thousand
 * connections the tables have 3 MB, and the kernel takes 50 ms to write them: so they are read off
 * the loop, a page at a time, and of a line that nobody seeks only the ends are looked at. To open
 * and to close them is quick, and not worth a turn of another thread. Also an empty table costs the
 * kernel some milliseconds: it goes through the buckets of all connections. So one that cannot have
 * what is missing is not read.
 */
export async function readConnections(
  sought: readonly Sought[],
  [four, six]: readonly [string, string] = TABLES,
): Promise<void> {
  const search = new ConnectionSearch(sought);
  if (sought.some(({ lines }) => lines.some(isOfIPv4))) await readTable(four, search);
  if (!search.isOver) await readTable(six, search);
}

/** Its first address is one word of eight digits. */
function isOfIPv4(line: string): boolean {
  return line.indexOf(":") === 8;
}

class ConnectionSearch {
  readonly #byLine = new Map<string, Sought>();
  #missing: number;

  constructor(sought: readonly Sought[]) {
    this.#missing = sought.length;
    for (const each of sought) for (const line of each.lines) this.#byLine.set(line, each);
  }

  get isOver(): boolean {
    return this.#missing === 0;
  }

  /** Gives back the beginning of a line that is not whole yet. */
  look(text: string): string {
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      const ends = text.indexOf(": ", from) + 2;
      const found = this.#byLine.get(text.slice(ends, endOf(text, ends)));
      if (found && found.uid === undefined) this.#name(found, text.slice(from, end));
      from = end + 1;
    }
    return text.slice(from);
  }

  #name(found: Sought, line: string): void {
    const [, uid, inode] = LINE.exec(line) ?? [];
    if (uid === undefined || inode === "0") return;
    found.uid = Number(uid);
    this.#missing -= 1;
  }
}

const LINE = /^ *\d+: \S+ \S+ (?:\S+ +){4}(\d+) +\d+ (\d+)/;

/** Both ends are two words. */
function endOf(text: string, ends: number): number {
  return text.indexOf(" ", text.indexOf(" ", ends) + 1);
}

/** The callbacks of `fs` cost the loop a third of what its promises do, 750 times a read. */
function readTable(path: string, search: ConnectionSearch): Promise<void> {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch {
    // A kernel without IPv6 has no table of it.
    return Promise.resolve();
  }
  const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
  let rest = "";
  return new Promise<void>((resolve, reject) => {
    const next = () =>
      read(file, buffer, 0, CHUNK_BYTES, null, (error, bytes) => {
        if (error) return reject(error);
        rest = search.look(rest + buffer.toString("latin1", 0, bytes));
        if (bytes === 0 || search.isOver) resolve();
        else next();
      });
    next();
  }).finally(() => closeSync(file));
}
