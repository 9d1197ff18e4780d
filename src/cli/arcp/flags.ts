/** Flags of `arcp`, named as the SDK's own, and the client they describe. */
import { ArcpClient } from "../../wires/arcp/client/client.ts";
import { releaseVersion } from "../../daemon/version.ts";

export interface RuntimeFlags {
  readonly url: string;
  readonly token: string;
}

/** Of every command that talks to a runtime. */
export const runtimeFlags = {
  url: { kind: "parsed", parse: String, placeholder: "URL", brief: "ws://HOST:PORT/arcp" },
  token: { kind: "parsed", parse: String, placeholder: "TOKEN", brief: "The bearer token" },
} as const;

export async function connect(flags: RuntimeFlags, signal: AbortSignal): Promise<ArcpClient> {
  const client = { name: "arcp-cli", version: releaseVersion() };
  return ArcpClient.connect(flags.url, { token: flags.token, client, signal });
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error("not JSON", { cause });
  }
}
