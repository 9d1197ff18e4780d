/** Connections of several protocols at one place, told apart by their first bytes. */
import type { Server, Socket } from "node:net";

/** A connection that does not say what it is. */
const FIRST_BYTES_MS = 10_000;

/** Where a connection goes, once enough of it was read. */
export interface Choice {
  readonly server: Server;
  /** A server of TLS reads for itself. */
  readonly isReading?: boolean;
}

/**
 * Hands a connection to the server that speaks its protocol, with what was read of it. `choose`
 * gives nothing while it needs more.
 */
export function sortByFirstBytes(
  socket: Socket,
  choose: (read: Buffer) => Choice | undefined,
): void {
  let read = Buffer.alloc(0);
  const end = () => void socket.destroy();
  const look = (chunk: Buffer) => {
    read = Buffer.concat([read, chunk]);
    const choice = choose(read);
    if (!choice) return;
    socket.off("data", look).off("error", end).off("end", end);
    socket.setTimeout(0, end);
    socket.pause();
    socket.unshift(read);
    choice.server.emit("connection", socket);
    if (!choice.isReading) socket.resume();
  };
  socket.on("data", look).on("error", end).on("end", end);
  socket.setTimeout(FIRST_BYTES_MS, end);
}
