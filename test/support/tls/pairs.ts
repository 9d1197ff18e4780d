/** For tests of TLS: an authority, pairs that it signed, and files that hold them. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, vi } from "vitest";
import { issue, type IssuedPair } from "../../../src/net/tls/certificate.ts";
import { LOOK_MS, type PairFiles } from "../../../src/net/tls/pair.ts";
import type { TestClock } from "../engine/fixture.ts";

const DAY_MS = 86_400_000;

export interface TestPair {
  readonly issuer?: IssuedPair;
  /** From now; a negative one is over. */
  readonly days?: number;
}

export function authority(title = "test authority"): IssuedPair {
  const fromMs = Date.now() - DAY_MS;
  return issue({ title, names: [], fromMs, untilMs: fromMs + 9 * DAY_MS, isAuthority: true });
}

export function pairFor(names: readonly string[], { issuer, days = 1 }: TestPair = {}): IssuedPair {
  const nowMs = Date.now();
  return issue({
    title: names[0] ?? "test",
    names,
    fromMs: nowMs - 2 * DAY_MS,
    untilMs: nowMs + days * DAY_MS,
    ...(issuer && { issuer }),
  });
}

export interface PairFolder extends Disposable {
  readonly files: PairFiles & { readonly clientCa: string };
  put(pair: IssuedPair, ca?: IssuedPair): void;
}

/** The files of a server; `clientCa` is there once `put` was given one. */
export function pairFolder(pair: IssuedPair, ca?: IssuedPair): PairFolder {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-tls-"));
  const [cert, key, clientCa] = ["cert.pem", "key.pem", "ca.pem"].map((name) => join(folder, name));
  const files = { cert: cert ?? "", key: key ?? "", clientCa: clientCa ?? "" };
  const put = (given: IssuedPair, signer?: IssuedPair) => {
    writeFileSync(files.cert, given.cert);
    writeFileSync(files.key, given.key);
    if (signer) writeFileSync(files.clientCa, signer.cert);
  };
  put(pair, ca);
  return { files, put, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

/** The files were read again. */
export async function looked(clock: TestClock): Promise<void> {
  await clock.advance(LOOK_MS);
  await vi.waitFor(() => expect(clock.timers).toBe(1));
}
