/**
 * The connections of a door: counted, and cut when it closes, upgraded and streaming ones too.
 *
 *   connected ──▶ silent ── first call ──▶ claimed by its principal
 *                   └── the door is full ──▶ the oldest silent one is cut
 *
 * So connections that say nothing keep nobody out, and principals share the rest (core/shares.ts).
 */
import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Server, Socket } from "node:net";
import { BEGUN, HANDED } from "../net/tls/front.ts";
import { checkShare, Holdings, wishOf } from "../core/shares.ts";

/** How often a closing door looks whether connections have become idle. */
const LOOK_MS = 20;

/** Connections beyond the limit that the system may hand us at once, until one of them is cut. */
const SPARE = 256;

export interface SocketsOptions {
  readonly max: number;
  /** A connection was closed without a word: there are too many. */
  readonly onRefused?: (() => void) | undefined;
}

export class Sockets {
  readonly #max: number;
  readonly #onRefused: () => void;
  readonly #open = new Set<Socket>();
  /** Of the open ones, those without a call so far; the oldest first. */
  readonly #silent = new Set<Socket>();
  readonly #holdings = new Holdings();
  /** Resolves when the server breaks after it was open. */
  readonly failed: Promise<Error>;
  #whenEmpty: (() => void) | undefined;

  constructor(server: Server, { max, onRefused = () => undefined }: SocketsOptions) {
    this.#max = max;
    this.#onRefused = onRefused;
    server.maxConnections = max + Math.min(max, SPARE);
    server.on("drop", onRefused);
    this.failed = new Promise((resolve) => {
      server.once("listening", () => server.on("error", resolve));
    });
    this.follow(server);
  }

  /** Counts the connections of another server as well. */
  follow(server: EventEmitter): void {
    server.on("connection", (socket: Socket) => this.#add(socket));
  }

  /** Counts those that a port with TLS has not handed to a server yet: they are silent, too. */
  followFront(front: EventEmitter): void {
    front.on(BEGUN, (socket: Socket) => this.#add(socket));
    front.on(HANDED, (socket: Socket) => this.#remove(socket));
  }

  #add(socket: Socket): void {
    this.#open.add(socket);
    this.#silent.add(socket);
    if (this.#open.size > this.#max) this.#cutOldestSilent();
    socket.once("close", () => {
      this.#remove(socket);
      if (this.#open.size === 0) this.#whenEmpty?.();
    });
  }

  #remove(socket: Socket): void {
    this.#open.delete(socket);
    this.#silent.delete(socket);
  }

  get size(): number {
    return this.#open.size;
  }

  /** The first call of a connection says whose it is; throws where that one has its share. */
  claim(socket: Socket, owner: string): void {
    if (!this.#silent.has(socket)) return;
    checkShare({ limit: this.#max, noun: "connections" }, wishOf(this.#holdings, owner));
    this.#silent.delete(socket);
    this.#holdings.add(owner);
    socket.once("close", () => this.#holdings.remove(owner));
  }

  #cutOldestSilent(): void {
    for (const oldest of this.#silent) {
      oldest.destroy();
      return this.#onRefused();
    }
  }

  /** Resolves when all are closed, by themselves or cut after the grace. */
  async drain(graceMs: number, closeIdle: () => void): Promise<void> {
    if (this.#open.size === 0) return;
    closeIdle();
    const looking = setInterval(closeIdle, LOOK_MS);
    const cutting = setTimeout(() => {
      for (const socket of this.#open) socket.destroy();
    }, graceMs);
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve;
    });
    clearInterval(looking);
    clearTimeout(cutting);
  }

  /**
   * Reads on and drops what comes for a moment: a sender that is cut while it sends never looks at
   * the answer.
   */
  linger(request: IncomingMessage, lingerMs: number): void {
    const { socket } = request;
    const timer = setTimeout(() => socket.destroy(), lingerMs);
    timer.unref();
    socket.once("close", () => clearTimeout(timer));
    request.resume();
  }
}
