/**
 * One call to a registry: bounded in time and size, and every way it can fail is a RollcallError.
 * A redirect is a failure, too: it would carry the token to somewhere else.
 */
import { clean } from "../../../core/clean.ts";
import { RollcallError, type ErrorCode } from "../../../core/errors.ts";
import type { Clock } from "../../../core/clock.ts";
import { within } from "../../../net/fetch/deadline.ts";
import { BEAT } from "./limits.ts";

/** As the global one; that is the default. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface RegistryCall {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON, which makes it a POST. */
  readonly body?: string;
  readonly maxBytes: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

export interface RegistryResponse {
  readonly status: number;
  readonly text: string;
  readonly retryAfterS: number | undefined;
  readonly link: string | undefined;
  /** Of the agent, as a registry issues it at first sight. */
  readonly registrationToken: string | undefined;
}

/** Both ways: where a registry issues the token, and where who holds it shows it. */
export const TOKEN_HEADER = "rollcall-registration-token";

export async function call(
  { url, headers, body, maxBytes, timeoutMs, signal }: RegistryCall,
  { fetch, clock }: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<RegistryResponse> {
  const late = new RollcallError("DEADLINE_EXCEEDED", `no answer from ${url} in time`);
  try {
    return await within({ ms: timeoutMs, timers: clock, signal, late }, async (inner) => {
      const post = body === undefined ? {} : { method: "POST", body };
      const response = await fetch(url, { ...post, headers, redirect: "error", signal: inner });
      const text = await textOf(response, maxBytes);
      return {
        status: response.status,
        text,
        retryAfterS: retryAfterOf(response.headers),
        link: response.headers.get("link") ?? undefined,
        registrationToken: tokenIn(response.headers),
      };
    });
  } catch (error) {
    if (error instanceof RollcallError) throw error;
    if (signal.aborted) throw new RollcallError("CANCELLED", "the call was given up");
    throw new RollcallError("UNAVAILABLE", `no answer from ${url}`, { cause: error });
  }
}

async function textOf(response: Response, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > maxBytes) {
      throw new RollcallError("TOO_LARGE", `the registry answers with more than ${maxBytes} bytes`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** In whole seconds; the form with a date is not in use here. */
function retryAfterOf(headers: Headers): number | undefined {
  const text = headers.get("retry-after") ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function tokenIn(headers: Headers): string | undefined {
  const token = headers.get(TOKEN_HEADER) ?? "";
  return isToken(token) ? token : undefined;
}

export function isToken(text: string): boolean {
  return text.length <= BEAT.tokenLength && /^[\x21-\x7e]+$/.test(text);
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  405: "NOT_FOUND",
  413: "TOO_LARGE",
  422: "INVALID_ARGUMENT",
  429: "LIMIT_EXCEEDED",
};

export function refusal(url: string, { status, text }: RegistryResponse): RollcallError {
  const code = CODES[status] ?? (status >= 500 ? "UNAVAILABLE" : "INTERNAL");
  const detail = status === 422 ? `: ${problemIn(text)}` : "";
  return new RollcallError(code, `${url} answers ${status}${detail}`);
}

export function parsed(text: string, url: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new RollcallError("INTERNAL", `${url} does not answer in JSON`, { cause: error });
  }
}

interface Detail {
  readonly detail?: readonly { readonly loc?: readonly unknown[]; readonly msg?: unknown }[];
}

/** The first of the problems that the registry found, and where. */
function problemIn(text: string): string {
  try {
    const [first] = (JSON.parse(text) as Detail).detail ?? [];
    return clean(`${first?.loc?.join(".") ?? ""}: ${String(first?.msg)}`.slice(0, 300));
  } catch {
    return "it does not say why";
  }
}
