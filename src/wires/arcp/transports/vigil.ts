/**
 * Looks after the server's end of WebSockets. What has come of a message is counted, and is not
 * waited for for ever; and each end is asked from time to time whether it is there, whatever the
 * session above has agreed on.
 */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { newWaiting, type WaitingBytes } from "../../../net/waiting.ts";
import { IncompleteMessage } from "./incomplete.ts";
import { TRANSPORT } from "./limits.ts";

export interface VigilOptions {
  /** Counts messages that have not come whole. */
  readonly messages?: WaitingBytes | undefined;
  readonly clock?: Pick<Clock, "after">;
}

export class Vigil {
  readonly #messages: WaitingBytes;
  readonly #clock: Pick<Clock, "after">;
  readonly #open = new Set<WebSocket>();
  /** Those of which nothing was heard since they were asked. */
  readonly #asked = new Set<WebSocket>();
  #stopAsking: (() => void) | undefined;

  constructor({ messages = newWaiting().websocket_messages, clock = systemClock }: VigilOptions) {
    this.#messages = messages;
    this.#clock = clock;
  }

  /** The socket must not be read yet. */
  add(socket: WebSocket, stream: Duplex): void {
    const incomplete = new IncompleteMessage();
    const waiter = { cut: () => socket.terminate() };
    this.#open.add(socket);
    stream.on("data", (chunk: Buffer) => {
      this.#asked.delete(socket);
      incomplete.push(chunk);
      if (incomplete.bytes > 0) this.#messages.hold(waiter, incomplete.bytes);
      else this.#messages.release(waiter);
    });
    socket.once("close", () => {
      this.#messages.release(waiter);
      this.#open.delete(socket);
      this.#asked.delete(socket);
      if (this.#open.size === 0) this.close();
    });
    this.#stopAsking ??= this.#askLater();
  }

  /** Leaves no timer behind. */
  close(): void {
    this.#stopAsking?.();
    this.#stopAsking = undefined;
  }

  #askLater(): () => void {
    return this.#clock.after(TRANSPORT.pingMs, () => {
      this.#ask();
      this.#stopAsking = this.#open.size > 0 ? this.#askLater() : undefined;
    });
  }

  #ask(): void {
    for (const socket of this.#open) {
      // One that we do not read cannot answer.
      if (socket.isPaused) this.#asked.delete(socket);
      else if (this.#asked.has(socket)) socket.terminate();
      else {
        this.#asked.add(socket);
        socket.ping();
      }
    }
  }
}
