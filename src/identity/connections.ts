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
import { open } from "node:fs/promises";
import { isIPv4 } from "node:net";
import { endianness } from "node:os";
import { bytesOfAddress, unmapped } from "../net/ip.ts";

/** Both ends of a connection, as the server's socket has them. */
export interface Ends {
  readonly remoteAddress: string;
  readonly remotePort: number;
  readonly localAddress: string;
  readonly localPort: number;
}

const TABLES = ["/proc/net/tcp", "/proc/net/tcp6"];
const CHUNK_BYTES = 64 << 10;

/** The lines that the peer's end of a connection may have, in the words of the tables. */
export function linesOf(ends: Ends): readonly string[] {
  const peers = formsOf(ends.remoteAddress);
  const ours = formsOf(ends.localAddress);
  const ports = [hexPort(ends.remotePort), hexPort(ends.localPort)] as const;
  return peers.map((peer, form) => `${peer}:${ports[0]} ${ours[form] ?? ""}:${ports[1]}`);
}

/** An IPv4 address, also a mapped one, may stand in either table. */
function formsOf(address: string): readonly string[] {
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

/**
 * Calls for every line of the tables that names a user. Reads in pieces, off the loop, and looks at
 * one piece at a time: with ten thousand connections the kernel alone takes 50 ms.
 */
export async function readConnections(
  found: (line: string, uid: number) => void,
  tables: readonly string[] = TABLES,
): Promise<void> {
  for (const path of tables) {
    const file = await open(path).catch(() => undefined);
    if (!file) continue;
    try {
      const buffer = Buffer.allocUnsafe(CHUNK_BYTES);
      let rest = "";
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES);
        if (bytesRead === 0) break;
        const lines = (rest + buffer.toString("latin1", 0, bytesRead)).split("\n");
        rest = lines.pop() ?? "";
        for (const line of lines) readLine(line, found);
      }
    } finally {
      await file.close();
    }
  }
}

const LINE = /^ *\d+: ([0-9A-F]+:[0-9A-F]{4} [0-9A-F]+:[0-9A-F]{4}) (?:\S+ +){4}(\d+) +\d+ (\d+)/;

function readLine(line: string, found: (line: string, uid: number) => void): void {
  const [, ends, uid, inode] = LINE.exec(line) ?? [];
  if (ends !== undefined && inode !== "0") found(ends, Number(uid));
}
