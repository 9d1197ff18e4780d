/** `rollcall tls`: a certificate to try TLS with, and what there is to know about one. */
import { X509Certificate } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname, networkInterfaces } from "node:os";
import { join, resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { RollcallError } from "../../core/errors.ts";
import { DAY } from "../../core/units.ts";
import { tlsFolder } from "../../machine/places.ts";
import { systemCode } from "../../machine/system-error.ts";
import { failureReason } from "../../net/reasons.ts";
import { issue } from "../../net/tls/certificate.ts";
import { namesOf } from "../../net/tls/names.ts";
import type { Context } from "../context.ts";
import { printFacts, printJson } from "../print.ts";
import { jsonFlag, switchFlag, textFlag } from "../flags.ts";
import { about } from "../help.ts";
import { makeOwnFolder } from "../own-folder.ts";

const CERT = "cert.pem";
const KEY = "key.pem";
/** As long as browsers and phones put up with. */
const LIFE_MS = 365 * DAY;
const LOOPBACK = ["localhost", "127.0.0.1", "::1"];

interface ShowFlags {
  readonly json?: boolean;
}

const show = buildCommand<ShowFlags, [string?], Context>({
  docs: about(
    "Show the first certificate of a file: the names that it is for, when it ends, and its\n" +
      "fingerprint, by which a client can know the daemon.",
    { call: "rollcall tls show", does: "the one that `rollcall tls self-signed` made" },
    { call: "rollcall tls show /etc/rollcall/cert.pem", does: "another" },
  ),
  parameters: {
    flags: { json: jsonFlag },
    positional: {
      kind: "tuple",
      parameters: [{ parse: String, placeholder: "FILE", brief: "PEM", optional: true }],
    },
  },
  async func({ json }, given) {
    const file = given ?? join(tlsFolder(this.env), CERT);
    const certificate = read(file);
    const { fingerprint256: fingerprint, validTo } = certificate;
    const until = new Date(validTo).toISOString();
    const names = namesOf(certificate);
    if (json) return printJson(this, { file, names, until, fingerprint });
    await printFacts(this, [
      ["file", file],
      ["names", names.join(", ")],
      ["until", until],
      ["SHA-256", fingerprint],
    ]);
  },
});

interface MakeFlags {
  readonly out?: string;
  readonly force?: boolean;
}

const selfSigned = buildCommand<MakeFlags, string[], Context>({
  docs: about(
    "Make a certificate that no authority signed, and its key, to try TLS with. It is for\n" +
      "this machine's names and addresses and those given. Clients know it by its fingerprint:\n" +
      "`rollcall login URL` shows and pins it. For more than a trial, get one from your authority.",
    { call: "rollcall tls self-signed", does: "for this machine, for a year" },
    { call: "rollcall tls self-signed box.example 10.1.0.5", does: "for these names, too" },
    { call: "rollcall tls self-signed --out . --force", does: "here, in place of an older one" },
  ),
  parameters: {
    flags: {
      out: textFlag("DIR", "The folder for cert.pem and key.pem [tls beside the state]"),
      force: switchFlag("Replace a pair that is there"),
    },
    positional: {
      kind: "array",
      parameter: { parse: parseName, placeholder: "NAME", brief: "A host name or an IP address" },
    },
  },
  async func({ out, force = false }, ...names) {
    const folder = resolve(out ?? tlsFolder(this.env));
    const [cert, key] = [join(folder, CERT), join(folder, KEY)];
    const nowMs = Date.now();
    const pair = issue({
      title: names[0] ?? hostname(),
      names: [...new Set([...names, ...LOOPBACK, hostname().toLowerCase(), ...ownAddresses()])],
      // Clocks differ a little.
      fromMs: nowMs - DAY,
      untilMs: nowMs + LIFE_MS,
    });
    makeOwnFolder(folder);
    write(key, pair.key, { mode: 0o600, force });
    write(cert, pair.cert, { mode: 0o644, force });
    const { fingerprint256 } = new X509Certificate(pair.cert);
    await printFacts(this, [
      ["certificate", cert],
      ["key", key],
      ["SHA-256", fingerprint256],
      ["next", `rollcall up --http-addr 0.0.0.0:9090 --tls-cert ${cert} --tls-key ${key}`],
    ]);
  },
});

/** A host name or address; a word that begins like a flag is refused. */
function parseName(text: string): string {
  if (/^[a-z0-9*]([a-z0-9.:-]*[a-z0-9])?$/i.test(text)) return text.toLowerCase();
  throw new Error("not a host name or an IP address");
}

function ownAddresses(): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.flatMap(({ address, internal }) =>
    internal || address.startsWith("fe80") ? [] : [address],
  );
}

function read(file: string): X509Certificate {
  try {
    return new X509Certificate(readFileSync(file));
  } catch (cause) {
    if (systemCode(cause) === "ENOENT") {
      const fix = "`rollcall tls self-signed` makes one to try TLS with";
      throw new RollcallError("NOT_FOUND", `${file} is not there: ${fix}`, { cause });
    }
    const message = `${file} has no certificate (${failureReason(cause)})`;
    throw new RollcallError("NOT_FOUND", message, { cause });
  }
}

interface FileMode {
  readonly mode: number;
  readonly force: boolean;
}

function write(file: string, text: string, { mode, force }: FileMode): void {
  try {
    // A file that is there would keep its mode.
    if (force) rmSync(file, { force });
    writeFileSync(file, text, { mode, flag: "wx" });
  } catch (cause) {
    const isThere = cause instanceof Error && "code" in cause && cause.code === "EEXIST";
    const why = isThere ? "is there already: --force replaces it" : failureReason(cause);
    throw new RollcallError("ALREADY_EXISTS", `${file} ${why}`, { cause });
  }
}

export const tls = { show, "self-signed": selfSigned } as const;
