/**
 * The certificate and the key of a server, from files that are read again when they change: one
 * that renews them (certbot, cert-manager) tells nobody. New connections get the new pair. A pair
 * that cannot be used changes nothing: the old one stays, and the operator is told.
 *
 * The files are read every few seconds and compared as text: their times and their inodes say less
 * than that, and watching fails for links that are swapped.
 */
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createSecureContext } from "node:tls";
import type { Clock } from "../../core/clock.ts";
import { RollcallError } from "../../core/errors.ts";
import { failureReason } from "../reasons.ts";

/** Paths of PEM files. */
export interface PairFiles {
  readonly cert: string;
  readonly key: string;
  /** Of the authorities that sign the certificates of clients; absent: clients need none. */
  readonly clientCa?: string | undefined;
}

/** Their content, as Node's TLS takes it. */
export interface PairTexts {
  readonly cert: string;
  readonly key: string;
  readonly ca?: string;
}

/** The settings that name the files, for error messages. */
export interface PairSettings {
  readonly cert: string;
  readonly key: string;
  readonly clientCa: string;
}

const DAEMON: PairSettings = { cert: "tls_cert", key: "tls_key", clientCa: "tls_client_ca" };

export interface KeyPairOptions {
  readonly files: PairFiles;
  readonly settings?: PairSettings;
  readonly clock: Clock;
  /** New files are in use. */
  readonly onRenewal: (certificate: X509Certificate) => void;
  /** New files cannot be used. */
  readonly onTrouble: (error: RollcallError) => void;
}

/** A renewed pair may wait so long. */
export const LOOK_MS = 5_000;

export class KeyPair {
  readonly #options: KeyPairOptions;
  readonly #followers = new Set<(texts: PairTexts) => void>();
  #texts: PairTexts;
  #certificate: X509Certificate;
  /** The last texts that were refused: the operator is told once. */
  #refused = "";
  #stopLooking: () => void;
  #isClosed = false;

  private constructor(options: KeyPairOptions, texts: PairTexts) {
    this.#options = options;
    this.#texts = texts;
    this.#certificate = certificateOf(options, texts);
    this.#stopLooking = this.#lookLater();
  }

  /** Throws where the files cannot be used. */
  static async open(options: KeyPairOptions): Promise<KeyPair> {
    return new KeyPair(options, await textsOf(options));
  }

  get texts(): PairTexts {
    return this.#texts;
  }

  get certificate(): X509Certificate {
    return this.#certificate;
  }

  /** Whether certificates of clients are asked for. */
  get asksClients(): boolean {
    return this.#options.files.clientCa !== undefined;
  }

  /** Calls now, and whenever there is a new pair. */
  follow(call: (texts: PairTexts) => void): void {
    this.#followers.add(call);
    call(this.#texts);
  }

  #lookLater(): () => void {
    return this.#options.clock.after(LOOK_MS, () => void this.#look());
  }

  async #look(): Promise<void> {
    await this.#renew().catch((error: unknown) => this.#refuse(error));
    if (!this.#isClosed) this.#stopLooking = this.#lookLater();
  }

  async #renew(): Promise<void> {
    const { onRenewal } = this.#options;
    const texts = await textsOf(this.#options);
    if (isSame(texts, this.#texts)) return;
    this.#certificate = certificateOf(this.#options, texts);
    this.#texts = texts;
    this.#refused = "";
    for (const call of this.#followers) call(texts);
    onRenewal(this.#certificate);
  }

  #refuse(error: unknown): void {
    const trouble = error instanceof RollcallError ? error : unusable("the pair", error);
    if (trouble.message === this.#refused) return;
    this.#refused = trouble.message;
    this.#options.onTrouble(trouble);
  }

  /** Idempotent. */
  close(): void {
    this.#isClosed = true;
    this.#stopLooking();
  }
}

async function textsOf({ files, settings = DAEMON }: KeyPairOptions): Promise<PairTexts> {
  const { cert, key, clientCa } = files;
  return {
    cert: await textOf(settings.cert, cert),
    key: await textOf(settings.key, key),
    ...(clientCa !== undefined && { ca: await textOf(settings.clientCa, clientCa) }),
  };
}

async function textOf(setting: string, path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw unusable(`${setting} ${path}`, error);
  }
}

function isSame(some: PairTexts, others: PairTexts): boolean {
  return some.cert === others.cert && some.key === others.key && some.ca === others.ca;
}

/** Checks that the key is the certificate's; the texts themselves are in no message. */
function certificateOf(
  { files, settings = DAEMON }: KeyPairOptions,
  texts: PairTexts,
): X509Certificate {
  const cert = `${settings.cert} ${files.cert}`;
  const key = `${settings.key} ${files.key}`;
  const certificate = attempt(cert, () => new X509Certificate(texts.cert));
  attempt(key, () => createSecureContext({ key: texts.key }));
  attempt(`${key} with ${cert}`, () => createSecureContext({ cert: texts.cert, key: texts.key }));
  if (texts.ca !== undefined) {
    const { ca } = texts;
    attempt(`${settings.clientCa} ${files.clientCa ?? ""}`, () => new X509Certificate(ca));
  }
  return certificate;
}

function attempt<T>(what: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(what, error);
  }
}

function unusable(what: string, cause: unknown): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", `${what} cannot be used: ${failureReason(cause)}`, {
    cause,
  });
}
