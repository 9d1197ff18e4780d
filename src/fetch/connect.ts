/**
 * Opens a connection to an address that was checked: to the address, never to a name, so that a
 * name that means something else by now cannot lead it elsewhere. TLS still asks for the name, and
 * checks the certificate against it.
 */
import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";

export interface Dial {
  readonly address: string;
  readonly port: number;
  /** The host of an https URL; without one there is no TLS. */
  readonly tlsHost?: string;
  readonly signal: AbortSignal;
}

/** Resolves once the connection stands (and the certificate is right). */
export type Connect = (dial: Dial) => Promise<Socket>;

export async function connectTo({ address, port, tlsHost, signal }: Dial): Promise<Socket> {
  const socket =
    tlsHost === undefined
      ? connectTcp({ host: address, port })
      : connectTls({
          host: address,
          port,
          ALPNProtocols: ["http/1.1"],
          ...(isIP(tlsHost) === 0 && { servername: tlsHost }),
        });
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      socket.destroy();
      reject(signal.reason as Error);
    };
    // It stays, for what goes wrong before anybody else listens.
    socket.on("error", reject);
    socket.once(tlsHost === undefined ? "connect" : "secureConnect", () => {
      signal.removeEventListener("abort", stop);
      resolve(socket);
    });
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
  });
}
