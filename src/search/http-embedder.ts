/**
 * An embedder behind an HTTP endpoint that speaks as OpenAI's does: `{model, input: [texts]}` in,
 * `{data: [{index, embedding}]}` out. It is not trusted: its answer is measured, timed and
 * checked before a number of it is used, and the key goes nowhere but to the address given.
 */
import { z } from "zod";
import { invalidArgument, RollcallError } from "../core/errors.ts";
import { wholeAnswer } from "../net/http/body.ts";
import { failureReason } from "../net/reasons.ts";
import type { Embedder } from "./embedder.ts";
import { ENDPOINT } from "./limits.ts";
import { unitLength } from "./model.ts";

export interface HttpEmbedderOptions {
  /** The whole address, as in `https://api.openai.com/v1/embeddings`. */
  readonly url: string;
  readonly model: string;
  /** Sent as a bearer token. */
  readonly key?: string;
  readonly timeoutMs?: number;
  /** Texts in one request. */
  readonly batch?: number;
}

const ANSWER = z.object({
  data: z.array(
    z.object({
      index: z.int().nonnegative(),
      embedding: z.array(z.number()).min(1).max(ENDPOINT.dimensions),
    }),
  ),
});

export function httpEmbedder(options: HttpEmbedderOptions): Embedder {
  const url = addressOf(options.url);
  const batch = options.batch ?? ENDPOINT.batch;
  if (!Number.isSafeInteger(batch) || batch < 1 || batch > ENDPOINT.maxBatch) {
    throw invalidArgument(`the embedding batch is ${batch}, allowed are 1 to ${ENDPOINT.maxBatch}`);
  }
  /** 0 until the first answer shows it. */
  let dimensions = 0;

  async function request(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    const body = await post({ ...options, url, signal, texts });
    const vectors = vectorsOf(url, body, texts.length);
    for (const { length } of vectors) {
      dimensions ||= length;
      if (length === dimensions) continue;
      throw unusable(url, `gives ${length} dimensions after ${dimensions}`);
    }
    return vectors;
  }

  return {
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (let start = 0; start < texts.length; start += batch) {
        vectors.push(...(await request(texts.slice(start, start + batch), signal)));
      }
      return vectors;
    },
  };
}

interface Post extends Omit<HttpEmbedderOptions, "url"> {
  readonly url: URL;
  readonly texts: readonly string[];
  readonly signal: AbortSignal | undefined;
}

async function post({ url, model, key, texts, ...options }: Post): Promise<string> {
  const timeoutMs = options.timeoutMs ?? ENDPOINT.timeoutMs;
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input: texts, encoding_format: "float" }),
      // A redirect would send the API key to another server.
      redirect: "error",
      signal,
    });
    if (response.ok) return await textOf(url, response);
    await response.body?.cancel();
    throw unusable(url, `answers with status ${response.status}`);
  } catch (error) {
    if (error instanceof RollcallError) throw error;
    if (options.signal?.aborted) {
      throw new RollcallError("CANCELLED", "the embedding was cancelled", { cause: error });
    }
    if (timeout.aborted) throw unusable(url, `did not answer within ${timeoutMs} ms`, error);
    throw unusable(url, `cannot be reached (${reasonOf(error)})`, error);
  }
}

async function textOf(url: URL, response: Response): Promise<string> {
  const text = await wholeAnswer(response, ENDPOINT.answerBytes);
  if (text !== undefined) return text;
  throw unusable(url, `answers with more than ${ENDPOINT.answerBytes} bytes`);
}

function vectorsOf(url: URL, body: string, wanted: number): Float32Array[] {
  const { data } = parsed(url, body);
  const vectors = new Map(data.map(({ index, embedding }) => [index, unitLength(embedding)]));
  return Array.from({ length: wanted }, (_, i) => {
    const vector = vectors.get(i);
    if (!vector) throw unusable(url, `gives no vector for text ${i + 1} of ${wanted}`);
    return vector;
  });
}

function parsed(url: URL, body: string): z.infer<typeof ANSWER> {
  try {
    return ANSWER.parse(JSON.parse(body));
  } catch (error) {
    throw unusable(url, "answers with something else than embeddings", error);
  }
}

function addressOf(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === "http:" || url?.protocol === "https:") return url;
  throw invalidArgument(`the embedding endpoint ${JSON.stringify(text)} is not an http(s) address`);
}

/** fetch says "fetch failed", and why in its cause. */
function reasonOf(error: unknown): string {
  return failureReason(error instanceof Error ? (error.cause ?? error) : error);
}

/** Named without its query and user, which may hold secrets. */
function unusable(url: URL, problem: string, cause?: unknown): RollcallError {
  const message = `the embedding endpoint ${url.origin}${url.pathname} ${problem}`;
  return new RollcallError("UNAVAILABLE", message, { cause });
}
