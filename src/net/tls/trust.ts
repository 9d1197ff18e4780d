/**
 * How a client knows that a server is the right one: by the authorities of this system, by those of
 * a file, or by the fingerprint of the very certificate, as `rollcall tls self-signed` prints it.
 * With a fingerprint neither the names nor the dates of the certificate count.
 */
import type { ConnectionOptions, TLSSocket } from "node:tls";
import { RollcallError } from "../../core/errors.ts";

export interface ServerTrust {
  /** Certificates of authorities, PEM, in place of the system's. */
  readonly ca?: string | undefined;
  /** SHA-256 of the server's certificate, in hex, with or without colons. */
  readonly fingerprint?: string | undefined;
  /** The client's own certificate and its key, PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
}

export interface TlsTarget {
  readonly host: string;
  readonly port: number;
  /** By ALPN. */
  readonly protocol: "h2" | "http/1.1";
}

/** Loaded by those alone that need it: it costs a command a few milliseconds. */
function dial(options: ConnectionOptions): TLSSocket {
  return process.getBuiltinModule("node:tls").connect(options);
}

/** Calls once, later: with the connection to a server that is the right one, or with the reason. */
export function connectTls(
  target: TlsTarget,
  trust: ServerTrust,
  done: (error: Error | null, socket: TLSSocket) => void,
): TLSSocket {
  const socket = dial(optionsOf(target, trust));
  const fail = (error: Error) => done(error, socket);
  socket.once("error", fail);
  socket.once("secureConnect", () => {
    socket.off("error", fail);
    const problem = pinProblem(socket, trust);
    if (problem) socket.destroy();
    done(problem ?? null, socket);
  });
  return socket;
}

function optionsOf({ host, port, protocol }: TlsTarget, trust: ServerTrust): ConnectionOptions {
  const { isIP } = process.getBuiltinModule("node:net");
  const { ca, fingerprint, cert, key } = trust;
  return {
    host,
    port,
    ALPNProtocols: [protocol],
    // An address is no name to ask for.
    ...(isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
    rejectUnauthorized: fingerprint === undefined,
  };
}

function pinProblem(socket: TLSSocket, { fingerprint }: ServerTrust): Error | undefined {
  if (fingerprint === undefined) return undefined;
  const found = socket.getPeerX509Certificate()?.fingerprint256 ?? "none";
  if (plain(found) === plain(fingerprint)) return undefined;
  const message = `its certificate has the fingerprint ${found}, not the one that is pinned`;
  return new RollcallError("UNAUTHENTICATED", message);
}

function plain(fingerprint: string): string {
  return fingerprint.replaceAll(/[:\s]/g, "").toLowerCase();
}
