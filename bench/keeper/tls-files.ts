/** A certificate for loopback and its key, as files that both servers read. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DAY } from "../../src/core/units.ts";
import { issue } from "../../src/net/tls/certificate.ts";
import type { TlsFiles } from "./programs.ts";

export function tlsFiles(folder: string): TlsFiles {
  const nowMs = Date.now();
  const names = ["127.0.0.1", "localhost"];
  const pair = issue({ title: "bench", names, fromMs: nowMs - DAY, untilMs: nowMs + DAY });
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  writeFileSync(files.cert, pair.cert);
  writeFileSync(files.key, pair.key, { mode: 0o600 });
  return files;
}
