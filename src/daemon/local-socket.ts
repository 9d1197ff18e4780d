/**
 * The unix socket of the daemon, for its own user: HTTP and gRPC by one path, told apart by their
 * first bytes. It lies in a folder that is the user's alone and is the user's alone itself, so the
 * file system has answered who calls; no address and no port can be taken by somebody else.
 */
import { chmod, lstat, unlink } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { isMainThread } from "node:worker_threads";
import { errorText, RollcallError } from "../core/errors.ts";
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
    await clear(path);
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
        const listen = () =>
          server.listen(this.#path, () => {
            server.off("error", reject);
            resolve();
          });
        closedToOthers(listen);
      });
      await chmod(this.#path, 0o600);
    } catch (cause) {
      server.close();
      const why = errorText(cause);
      throw cannotListen(this.#path, why, cause);
    }
  }

  /** Takes the file away with it. Connections are those of the doors behind. */
  close(): void {
    this.#server.close();
  }
}

/** Takes away what a daemon that was killed has left, and nothing else. */
async function clear(path: string): Promise<void> {
  const found = await lstat(path).catch(() => undefined);
  if (!found) return;
  if (!found.isSocket()) throw cannotListen(path, "there is a file that is no socket");
  if (await isAnswered(path)) throw cannotListen(path, "another program listens there");
  await unlink(path).catch(() => undefined);
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (isThere: boolean) => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", () => answer(true)).once("error", () => answer(false));
  });
}

/** Other users can never open the files that `make` creates; threads cannot set the umask. */
function closedToOthers(make: () => unknown): void {
  if (!isMainThread) return void make();
  const before = process.umask(0o177);
  try {
    make();
  } finally {
    process.umask(before);
  }
}

function cannotListen(path: string, why: string, cause?: unknown): RollcallError {
  const fix = "choose another with --socket PATH, or --socket off";
  const message = `cannot listen on the socket ${path}: ${why}; ${fix}`;
  return new RollcallError("UNAVAILABLE", message, { cause });
}

/** HTTP/2 is what gRPC speaks, and nothing else does. */
function choose(read: Buffer, { http, grpc }: Behind): Choice | undefined {
  const length = Math.min(read.length, HTTP2_PREFACE.length);
  const isHttp2 = read.subarray(0, length).equals(HTTP2_PREFACE.subarray(0, length));
  if (!isHttp2) return { server: http };
  return length < HTTP2_PREFACE.length ? undefined : { server: grpc };
}
