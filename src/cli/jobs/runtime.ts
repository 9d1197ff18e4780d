/** Where jobs run: the daemon's door for ARCP, or any runtime that is named in full. */
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { Destination } from "../../wires/arcp/client/types.ts";
import { connectWebSocket } from "../../wires/arcp/transports/websocket.ts";
import { daemonAgent } from "../../net/http/agent.ts";
import { bearer } from "../../net/http/request.ts";
import { findToken } from "../../net/http/token.ts";
import { findUrl } from "../../net/http/url.ts";
import { NO_TOKEN } from "../../wires/arcp/codec/messages.ts";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { releaseVersion } from "../../daemon/version.ts";
import type { Context } from "../context.ts";
import { note } from "../daemon.ts";
import { textFlag, tokenFileFlag } from "../flags.ts";
import { WIPE } from "./view.ts";

export interface RuntimeFlags {
  readonly url?: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

export const runtimeFlags = {
  url: textFlag(
    "URL",
    "The daemon, or a runtime as ws://HOST:PORT/arcp [ROLLCALL_URL, or http://127.0.0.1:9090]",
  ),
  token: textFlag("TOKEN", "The bearer token, of a runtime for trying"),
  tokenFile: tokenFileFlag,
} as const;

export async function connectRuntime(
  context: Context,
  { url, tokenFile, ...flags }: RuntimeFlags,
  signal: AbortSignal,
): Promise<ArcpClient> {
  const { env } = context;
  const isDaemon = !isRuntimeUrl(url);
  const token = flags.token ?? findToken(tokenFile, env);
  const connecting = ArcpClient.connect(dialer({ url, token }, env), {
    token: token ?? NO_TOKEN,
    client: { name: "rollcall", version: releaseVersion() },
    signal,
    onState: (state) => {
      if (state.kind === "lost") void say(context, `${state.reason}; connecting again`);
      else if (state.kind === "resumed") void say(context, "connected again: nothing is missed");
      else if (state.kind === "renewed") void say(context, "connected again, in a new session");
    },
  });
  return connecting.catch((error: unknown) => {
    if (codeOf(error) === "UNAUTHENTICATED" && token === undefined) {
      const message = "the runtime wants a token: give its --token-file, or set ROLLCALL_TOKEN";
      throw new RollcallError("UNAUTHENTICATED", message, { cause: error });
    }
    if (!isDaemon || !(error instanceof RollcallError) || error.code !== "UNAVAILABLE") throw error;
    const daemon = `no daemon answers at ${findUrl(url, env)}`;
    const message = error.message.replace(/^no runtime answers at \S+/, daemon);
    throw new RollcallError("UNAVAILABLE", message, { cause: error });
  });
}

/** Where a job shows how far it is, its line makes room. */
async function say(context: Context, text: string): Promise<void> {
  if (context.err.isTerminal) await context.err.write(WIPE);
  await note(context, text);
}

/** Whether it names a runtime in full, which may be no daemon of ours. */
export function isRuntimeUrl(url: string | undefined): url is string {
  return url !== undefined && /^wss?:\/\//.test(url);
}

interface TokenAndUrl {
  readonly url: string | undefined;
  readonly token: string | undefined;
}

/** A daemon is called by its own socket where it has one. */
function dialer({ url: flag, token }: TokenAndUrl, env: Context["env"]): Destination {
  if (isRuntimeUrl(flag)) return flag;
  const url = findUrl(flag, env);
  const how = { agent: daemonAgent(url, { env }), headers: bearer(token) };
  return (signal) => connectWebSocket(`${url.replace(/^http/, "ws")}/arcp`, { ...how, signal });
}
