/**
 * The unix socket of the daemon, for its own user: HTTP and gRPC by one path, told apart by their
 * first bytes. It lies in a folder that is the user's alone and is the user's alone itself, so the
 * file system has answered who calls; no address and no port can be taken by somebody else.
 */
import { chmod, unlink } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { RollcallError } from "../core/errors.ts";
import { markOwnSocket } from "../identity/caller.ts";
import { sortByFirstBytes, type Choice } from "../net/first-bytes.ts";

/** The most that the kernel takes for the path of a socket, in bytes. */
export const MAX_SOCKET_PATH = 107;
/** How HTTP/2 begins; no HTTP/1.1 request begins so. */
const HTTP2_PREFACE = Buffer.from("PRI * HTTP/2.0");

/** Servers that take connections which were accepted here. */
export interface Behind {
  readonly http: Server;
  readonly grpc: Server;
}

export class LocalSocket {
  readonly #server: Server;
  readonly #path: string;

  static async open(path: string, behind: Behind): Promise<LocalSocket> {
    // Left by a daemon that was killed: another one that runs would have kept the state locked.
    await unlink(path).catch(() => undefined);
    const socket = new LocalSocket(path, behind);
    await socket.#listen();
    return socket;
  }

  private constructor(path: string, behind: Behind) {
    this.#path = path;
    this.#server = createServer((socket) => {
      markOwnSocket(socket);
      sortByFirstBytes(socket, (read) => choose(read, behind));
    });
  }

  async #listen(): Promise<void> {
    const server = this.#server;
    try {
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(this.#path, () => {
          server.off("error", reject);
          resolve();
        });
      });
      await chmod(this.#path, 0o600);
    } catch (cause) {
      server.close();
      const why = cause instanceof Error ? cause.message : String(cause);
      const fix = "choose another with --socket PATH, or --socket off";
      const message = `cannot listen on the socket ${this.#path}: ${why}; ${fix}`;
      throw new RollcallError("UNAVAILABLE", message, { cause });
    }
  }

  /** Takes the file away with it. Connections are those of the doors behind. */
  close(): void {
    this.#server.close();
  }
}

/** HTTP/2 is what gRPC speaks, and nothing else does. */
function choose(read: Buffer, { http, grpc }: Behind): Choice | undefined {
  const length = Math.min(read.length, HTTP2_PREFACE.length);
  const isHttp2 = read.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length));
  if (!isHttp2) return { server: http };
  return length < HTTP2_PREFACE.length ? undefined : { server: grpc };
}
