/** A key pair for 127.0.0.1 that signed itself, in files as a daemon takes them. */
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pairFor } from "./tls/pairs.ts";

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
  /** SHA-256, as AA:BB:… */
  readonly fingerprint: string;
}

export function tlsFiles(folder: string, name = "box"): TlsFiles {
  const { cert, key } = pairFor(["127.0.0.1", "localhost"]);
  const [certFile, keyFile] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { certFile, keyFile, cert, key, fingerprint: new X509Certificate(cert).fingerprint256 };
}
