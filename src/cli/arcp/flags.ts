/** Flags of `arcp`, named as the SDK's own, and the client they describe. */
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import { invalidArgument } from "../../core/errors.ts";
import { releaseVersion } from "../../daemon/version.ts";
import { findToken } from "../../net/http/token.ts";
import type { Context } from "../context.ts";
import { requiredFlag, textFlag, tokenFileFlag } from "../flags.ts";

export interface ArcpRuntimeFlags {
  readonly url: string;
  readonly token?: string;
  readonly tokenFile?: string;
}

/** Of every command that talks to a runtime. */
export const runtimeFlags = {
  url: requiredFlag("URL", "ws://HOST:PORT/arcp"),
  token: textFlag("TOKEN", "The bearer token, of a runtime for trying"),
  tokenFile: tokenFileFlag,
} as const;

export async function connect(
  { env }: Context,
  flags: ArcpRuntimeFlags,
  signal: AbortSignal,
): Promise<ArcpClient> {
  const client = { name: "arcp-cli", version: releaseVersion() };
  const token = flags.token ?? findToken(flags.tokenFile, env);
  if (token === undefined) {
    throw invalidArgument("no token: give its --token-file, or set ROLLCALL_TOKEN");
  }
  return ArcpClient.connect(flags.url, { token, client, signal });
}

export function parseJsonFlag(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("not JSON", { cause });
  }
}
