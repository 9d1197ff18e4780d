/**
 * Opens a connection to an address that was checked: to the address, never to a name, so that a
 * name with another address by now cannot lead it elsewhere. TLS still asks for the name, and
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

/** `ca` (PEM) is trusted in place of the certificates that come with Node. */
export function connectWith(ca?: string): Connect {
  return async ({ signal, ...dial }) => {
    signal.throwIfAborted();
    const socket = dial.tlsHost === undefined ? connectTcp(hostOf(dial)) : openTls(dial, ca);
    return new Promise((resolve, reject) => {
      const stop = (): void => {
        socket.destroy();
        reject(signal.reason as Error);
      };
      signal.addEventListener("abort", stop, { once: true });
      // It stays, for errors before the caller listens.
      socket.on("error", reject);
      socket.once(dial.tlsHost === undefined ? "connect" : "secureConnect", () => {
        signal.removeEventListener("abort", stop);
        resolve(socket);
      });
    });
  };
}

type DialTarget = Omit<Dial, "signal">;

function openTls(dial: DialTarget, ca: string | undefined): Socket {
  const { tlsHost = "" } = dial;
  return connectTls({
    ...hostOf(dial),
    ALPNProtocols: ["http/1.1"],
    // Without it the certificate must be one for the address.
    ...(isIP(tlsHost) === 0 && { servername: tlsHost }),
    ...(ca !== undefined && { ca }),
  });
}

function hostOf({ address, port }: DialTarget): { readonly host: string; readonly port: number } {
  return { host: address, port };
}
