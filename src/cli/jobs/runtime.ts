/** Where jobs run: the daemon's door for ARCP, or any runtime that is named in full. */
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { Destination } from "../../wires/arcp/client/types.ts";
import { connectWebSocket } from "../../wires/arcp/transports/websocket.ts";
import { daemonAgent } from "../../net/http/agent.ts";
import { findUrl } from "../../net/http/url.ts";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { releaseVersion } from "../../daemon/version.ts";
import type { Context } from "../context.ts";
import { note } from "../daemon.ts";
import { textFlag } from "../flags.ts";
import { WIPE } from "./view.ts";

export interface RuntimeFlags {
  readonly url?: string;
  readonly token?: string;
}

export const runtimeFlags = {
  url: textFlag(
    "URL",
    "The daemon, or a runtime as ws://HOST:PORT/arcp [ROLLCALL_URL, or http://127.0.0.1:9090]",
  ),
  token: textFlag("TOKEN", "The bearer token [ROLLCALL_TOKEN]"),
} as const;

/** A daemon that asks for no token lets anybody of this machine in. */
const NO_TOKEN = "anonymous";

export async function connectRuntime(
  context: Context,
  { url, token }: RuntimeFlags,
  signal: AbortSignal,
): Promise<ArcpClient> {
  const { env } = context;
  const isDaemon = !isRuntimeUrl(url);
  const connecting = ArcpClient.connect(dialer(url, env), {
    token: token ?? (env["ROLLCALL_TOKEN"] || NO_TOKEN),
    client: { name: "rollcall", version: releaseVersion() },
    signal,
    onState: (state) => {
      if (state.kind === "lost") void say(context, `${state.reason}; connecting again`);
      else if (state.kind === "resumed") void say(context, "connected again: nothing is missed");
      else if (state.kind === "renewed") void say(context, "connected again, in a new session");
    },
  });
  return connecting.catch((error: unknown) => {
    if (codeOf(error) === "UNAUTHENTICATED" && !(token ?? env["ROLLCALL_TOKEN"])) {
      const message = "the runtime wants a token: give one with --token, or set ROLLCALL_TOKEN";
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

/** A daemon is called by its own socket where it has one. */
function dialer(flag: string | undefined, env: Context["env"]): Destination {
  if (isRuntimeUrl(flag)) return flag;
  const url = findUrl(flag, env);
  const agent = daemonAgent(url, env);
  return (signal) => connectWebSocket(`${url.replace(/^http/, "ws")}/arcp`, { signal, agent });
}
