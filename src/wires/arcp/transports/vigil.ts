/**
 * Looks after the server's end of WebSockets. What has come of a message is counted, and is not
 * waited for for ever; what the client does not read is counted, and only the last of its pings is
 * answered meanwhile; and each end is asked from time to time whether it is there, whatever the
 * session above has agreed on.
 */
import type { Duplex } from "node:stream";
import type { WebSocket } from "ws";
import type { Clock } from "../../../core/clock.ts";
import { systemClock } from "../../../machine/clock.ts";
import { newWaiting, type WaitingCounters } from "../../../net/waiting.ts";
import { IncompleteMessage } from "./incomplete.ts";
import { TRANSPORT } from "./limits.ts";

export interface VigilOptions {
  /** Shared by all doors of the process. */
  readonly waiting?: WaitingCounters | undefined;
  readonly clock?: Pick<Clock, "after">;
}

export class Vigil {
  readonly #waiting: WaitingCounters;
  readonly #clock: Pick<Clock, "after">;
  readonly #open = new Set<WebSocket>();
  /** Connections that have not answered the last ping. */
  readonly #asked = new Set<WebSocket>();
  #stopAsking: (() => void) | undefined;

  constructor({ waiting = newWaiting(), clock = systemClock }: VigilOptions) {
    this.#waiting = waiting;
    this.#clock = clock;
  }

  /** The socket must not be read yet. Gives what to call when something was written. */
  add(socket: WebSocket, stream: Duplex): () => void {
    const { websocket_messages: messages, websocket_answers: answers } = this.#waiting;
    const incomplete = new IncompleteMessage();
    // One for both, each of which counts for itself: ten thousand sockets rest here.
    const waiter = { cut: () => socket.terminate() };
    let lastPing: Buffer | undefined;
    const onWritten = () => {
      if (stream.writableNeedDrain) answers.hold(waiter, stream.writableLength);
    };
    const onDrained = () => {
      answers.release(waiter);
      if (lastPing && socket.readyState === socket.OPEN) socket.pong(lastPing);
      lastPing = undefined;
    };
    this.#open.add(socket);
    stream.on("drain", onDrained);
    socket.on("ping", (data: Buffer) => {
      if (stream.writableNeedDrain) lastPing = Buffer.from(data);
      else socket.pong(data);
    });
    stream.on("data", (chunk: Buffer) => {
      this.#asked.delete(socket);
      incomplete.push(chunk);
      if (incomplete.bytes > 0) messages.hold(waiter, incomplete.bytes);
      else messages.release(waiter);
    });
    socket.on("close", () => {
      stream.off("drain", onDrained);
      messages.release(waiter);
      answers.release(waiter);
      this.#open.delete(socket);
      this.#asked.delete(socket);
      if (this.#open.size === 0) this.close();
    });
    this.#stopAsking ??= this.#askLater();
    return onWritten;
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
