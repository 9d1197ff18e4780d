/**
 * The daemon that a client talks to: where it is, the token to present there, and how its
 * certificate is known. The first of these decides, and the rest are not looked at:
 *
 *   --url, --context  ▶  ROLLCALL_URL, ROLLCALL_CONTEXT  ▶  the current context  ▶  this machine's
 *
 * Of tokens: --token-file, ROLLCALL_TOKEN, the context's own; on this machine that of its user,
 * where the daemon made one. A context's token goes to the context's URL and nowhere else.
 */
import { invalidArgument } from "../../core/errors.ts";
import { readLocalToken } from "../../machine/local-token.ts";
import { socketPath } from "../../machine/places.ts";
import type { Environment } from "../../machine/surroundings.ts";
import { isLoopbackHost } from "../loopback.ts";
import type { ServerTrust } from "../tls/trust.ts";
import { contextNamed, LOCAL_CONTEXT, readContexts, type DaemonContext } from "./contexts.ts";
import { findToken, readTextFile, tokenIn } from "./token.ts";
import { DEFAULT_URL, parseUrl } from "./url.ts";

export interface Target {
  readonly url: string;
  readonly token?: string;
  /** Of a daemon with TLS. */
  readonly trust?: ServerTrust;
  /** The daemon's own socket, used where it is there; false elsewhere than on this machine. */
  readonly socket: string | false;
  /** The context that it is of; absent where a URL was given. */
  readonly context?: string;
}

export interface TargetFlags {
  readonly url?: string | undefined;
  readonly tokenFile?: string | undefined;
  readonly context?: string | undefined;
}

export function findTarget(flags: TargetFlags, env: Environment): Target {
  const place = placeOf(flags, env);
  const token = findToken(flags.tokenFile, env) ?? place.token;
  return token === undefined ? place : { ...place, token };
}

function placeOf({ url, context }: TargetFlags, env: Environment): Target {
  const said = [
    choice(["--url", url], ["--context", context]),
    choice(["ROLLCALL_URL", env["ROLLCALL_URL"]], ["ROLLCALL_CONTEXT", env["ROLLCALL_CONTEXT"]]),
  ].find((each) => each !== undefined);
  if (said?.url !== undefined) return atUrl(parseUrl(said.url, said.source), env);
  const contexts = readContexts(env);
  const name = said?.context ?? contexts.current;
  if (name === LOCAL_CONTEXT) return { ...onThisMachine(env), context: name };
  return inContext(contextNamed(contexts, name), name);
}

type SourcedValue = readonly [source: string, value: string | undefined];

interface TargetChoice {
  readonly source: string;
  readonly url?: string;
  readonly context?: string;
}

/** Both at once would leave open to which of the two daemons the words go. */
function choice(
  [bySource, url]: SourcedValue,
  [nameSource, context]: SourcedValue,
): TargetChoice | undefined {
  if (url && context) {
    const message = `${bySource} and ${nameSource} are two ways to name a daemon: give one of them`;
    throw invalidArgument(message);
  }
  if (url) return { source: bySource, url };
  return context ? { source: nameSource, context } : undefined;
}

/** The daemon that this user starts without further words, at the address that it is told. */
function onThisMachine(env: Environment): Target {
  const address = env["ROLLCALL_HTTP_ADDR"];
  return atUrl(address ? parseUrl(address, "ROLLCALL_HTTP_ADDR") : DEFAULT_URL, env);
}

function atUrl(url: string, env: Environment): Target {
  const token = localToken(url, env);
  const socket = url === DEFAULT_URL && socketPath(env);
  return { url, socket, ...(token !== undefined && { token }) };
}

/** That of this user, where its own daemon listens there. */
export function localToken(url: string, env: Environment = process.env): string | undefined {
  const place = new URL(url);
  return isLoopbackHost(place) ? readLocalToken(Number(place.port || 80), env) : undefined;
}

/** Never by the socket, though it may have its address: a tunnel begins there, too. */
function inContext(context: DaemonContext, name: string): Target {
  const {
    url,
    tokenFile,
    token = tokenFile && tokenIn(tokenFile, `${tokenFile} of ${name}`),
  } = context;
  const textOf = (file: string | undefined) =>
    file === undefined ? undefined : readTextFile(file, `${file} of the context ${name}`);
  return {
    url,
    socket: false,
    ...(token !== undefined && { token }),
    trust: {
      ca: textOf(context.caFile),
      fingerprint: context.fingerprint,
      cert: textOf(context.certFile),
      key: textOf(context.keyFile),
    },
    context: name,
  };
}
