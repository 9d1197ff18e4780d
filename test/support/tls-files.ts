/** A key pair for 127.0.0.1 that signed itself, in files as a daemon takes them. */
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { issue } from "../../src/net/tls/certificate.ts";

const DAY_MS = 86_400_000;

export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly cert: string;
  readonly key: string;
  /** SHA-256, as AA:BB:… */
  readonly fingerprint: string;
}

export function tlsFiles(folder: string, name = "box"): TlsFiles {
  const nowMs = Date.now();
  const { cert, key } = issue({
    title: name,
    names: ["127.0.0.1", "localhost"],
    fromMs: nowMs - DAY_MS,
    untilMs: nowMs + DAY_MS,
  });
  const [certFile, keyFile] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return { certFile, keyFile, cert, key, fingerprint: new X509Certificate(cert).fingerprint256 };
}
