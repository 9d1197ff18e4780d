/** The certificate that a server shows, for a person who decides whether to pin it. */
import { isIP } from "node:net";
import { RollcallError } from "../../core/errors.ts";
import { failureReason } from "../reasons.ts";

export interface ServerCertificate {
  /** The SHA-256, as AA:BB:… */
  readonly fingerprint: string;
  /** Why no authority vouches for it; absent where one does. */
  readonly problem?: string;
}

export interface CertificateQuery {
  readonly host: string;
  readonly port: number;
  /** Certificates of authorities, PEM, in place of the system's. */
  readonly ca?: string | undefined;
  readonly signal: AbortSignal;
}

const ANSWER_MS = 10_000;

/** Nothing is sent but what TLS itself needs. */
export function certificateAt(query: CertificateQuery): Promise<ServerCertificate> {
  const { host, port, ca, signal } = query;
  const { connect } = process.getBuiltinModule("node:tls");
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      ...(isIP(host) === 0 && { servername: host }),
      ...(ca !== undefined && { ca }),
      rejectUnauthorized: false,
    });
    const stop = () => socket.destroy(new Error("cancelled"));
    signal.addEventListener("abort", stop, { once: true });
    socket.setTimeout(ANSWER_MS, () => socket.destroy(new Error("timeout")));
    socket.once("close", () => signal.removeEventListener("abort", stop));
    socket.once("error", (cause) => {
      const message = `no server with TLS answers at ${host}:${port} (${failureReason(cause)})`;
      reject(new RollcallError("UNAVAILABLE", message, { cause }));
    });
    socket.once("secureConnect", () => {
      const fingerprint = socket.getPeerX509Certificate()?.fingerprint256 ?? "";
      // Node gives the code of OpenSSL here, whatever its types say.
      const code = String(socket.authorizationError);
      const problem = failureReason(Object.assign(new Error(code), { code }));
      resolve({ fingerprint, ...(!socket.authorized && { problem }) });
      socket.destroy();
    });
  });
}

/** As AA:BB:…; undefined where it is no SHA-256. Colons and capitals may be left out. */
export function parseFingerprint(text: string): string | undefined {
  const digits = text.replaceAll(/[:\s]/g, "").toUpperCase();
  return /^[0-9A-F]{64}$/.test(digits) ? digits.match(/../g)?.join(":") : undefined;
}
