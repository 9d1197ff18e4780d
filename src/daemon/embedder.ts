/**
 * The embedding endpoint of somebody's choice, in place of the built-in model. Its key comes from a
 * file or from the environment and never from a flag, which every user of the machine can read;
 * and it goes nowhere but to the endpoint.
 */
import { open } from "node:fs/promises";
import { errorText, invalidArgument, type RollcallError } from "../core/errors.ts";
import type { Embedder } from "../search/embedder.ts";
import { httpEmbedder } from "../search/http-embedder.ts";
import { isLoopback } from "../net/loopback.ts";
import type { Logger } from "./logger.ts";

export interface EmbedderConfig {
  readonly url: string;
  readonly model: string;
  /** A function: nobody who prints the configuration prints this. */
  readonly key: (() => string) | undefined;
}

const EMBEDDER_KEY = "ROLLCALL_EMBEDDER_KEY";

/** Keys are a line; whatever is larger is another file. */
const MAX_KEY_LENGTH = 4096;

interface EmbedderSettings {
  readonly url: string | undefined;
  readonly model: string | undefined;
  /** The path of a file, in full. */
  readonly keyFile: string | undefined;
  readonly env: NodeJS.ProcessEnv;
}

export async function embedderConfig(said: EmbedderSettings): Promise<EmbedderConfig | undefined> {
  const { url, model, keyFile, env } = said;
  if (url === undefined) {
    const alone = model === undefined ? keyFile && "embedder_key_file" : "embedder_model";
    // A key in the environment may be there for others.
    if (alone) throw invalid(`${alone} is set, and embedder_url is not: set both, or neither`);
    return undefined;
  }
  if (model === undefined) {
    throw invalid("embedder_url is set, and embedder_model is not: which model should it run?");
  }
  const inEnvironment = env[EMBEDDER_KEY] || undefined;
  if (keyFile !== undefined && inEnvironment !== undefined) {
    throw invalid(`embedder_key_file and ${EMBEDDER_KEY} are two keys: give one of them`);
  }
  const key =
    keyFile === undefined
      ? inEnvironment && checked(inEnvironment, EMBEDDER_KEY)
      : checked(await readKey(keyFile), keyFile);
  return { url, model, key: key === undefined ? undefined : () => key };
}

/** Nothing stands for the built-in model. */
export function embedderFor(
  config: EmbedderConfig | undefined,
  logger: Logger,
): Embedder | undefined {
  if (!config) return undefined;
  const { model, key } = config;
  const { protocol, hostname, origin, pathname } = new URL(config.url);
  const endpoint = `${origin}${pathname}`;
  logger.info({ endpoint, model }, "agents are embedded by an endpoint");
  if (key && protocol === "http:" && !isLocal(hostname)) {
    logger.warn({ endpoint }, "the embedding key is sent unencrypted: use https");
  }
  return httpEmbedder({ url: config.url, model, ...(key && { key: key() }) });
}

function isLocal(hostname: string): boolean {
  return hostname === "localhost" || isLoopback(hostname.replace(/^\[|\]$/g, ""));
}

async function readKey(path: string): Promise<string> {
  try {
    await using file = await open(path);
    // One byte more than allowed shows that there is more.
    const bytes = Buffer.alloc(MAX_KEY_LENGTH + 2);
    const { bytesRead } = await file.read(bytes);
    return bytes.toString("utf8", 0, bytesRead).trim();
  } catch (cause) {
    const why = errorText(cause);
    throw invalidArgument(`cannot read the embedding key: ${why}`, cause);
  }
}

/** Told by where it is, never by what it is. */
function checked(key: string, source: string): string {
  const isKey = /^[\x21-\x7e]+$/.test(key) && key.length <= MAX_KEY_LENGTH;
  if (isKey) return key;
  throw invalid(`${source} holds no key: expected one line of letters, digits and signs`);
}

function invalid(message: string): RollcallError {
  return invalidArgument(message);
}
