/** Where jobs run: the daemon's door for ARCP, or any runtime that is named in full. */
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import type { Destination } from "../../wires/arcp/client/types.ts";
import { connectWebSocket } from "../../wires/arcp/transports/websocket.ts";
import { daemonAgent } from "../../net/http/agent.ts";
import { bearer } from "../../net/http/request.ts";
import { findTarget, type TargetFlags } from "../../net/http/target.ts";
import { findToken } from "../../net/http/token.ts";
import { NO_TOKEN } from "../../wires/arcp/codec/messages.ts";
import { codeOf, RollcallError } from "../../core/errors.ts";
import { releaseVersion } from "../../daemon/version.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import { contextFlag, textFlag, tokenFileFlag } from "../flags.ts";
import { WIPE } from "./view.ts";

export type RuntimeFlags = TargetFlags;

export const jobFlags = {
  url: textFlag(
    "URL",
    "The daemon, or a runtime as ws://HOST:PORT/arcp [ROLLCALL_URL, or as the context says]",
  ),
  context: contextFlag,
  tokenFile: tokenFileFlag,
} as const;

export async function connectRuntime(
  context: Context,
  flags: RuntimeFlags,
  signal: AbortSignal,
): Promise<ArcpClient> {
  const { token, place, dial } = destinationOf(flags, context.env);
  const connecting = ArcpClient.connect(dial, {
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
    if (codeOf(error) !== "UNAVAILABLE" || !(error instanceof RollcallError)) throw error;
    const message = error.message.replace(/^no runtime answers at \S+/, `no ${place}`);
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

interface JobsPlace {
  readonly token: string | undefined;
  /** For the message that nothing is there. */
  readonly place: string;
  readonly dial: Destination;
}

/** A daemon is called by its own socket where it has one. */
function destinationOf(flags: RuntimeFlags, env: Context["env"]): JobsPlace {
  const { url, tokenFile } = flags;
  if (isRuntimeUrl(url)) {
    return { token: findToken(tokenFile, env), place: `runtime answers at ${url}`, dial: url };
  }
  const target = findTarget(flags, env);
  const how = { agent: daemonAgent(target), headers: bearer(target.token) };
  const address = `${target.url.replace(/^http/, "ws")}/arcp`;
  return {
    token: target.token,
    place: `daemon answers at ${target.url}`,
    dial: (signal) => connectWebSocket(address, { ...how, signal }),
  };
}
