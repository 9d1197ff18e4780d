/** The token of the user that runs the daemon: from its start to its end, where there is one. */
import { join } from "node:path";
import { LOCAL_TOKEN_NAME, removeLocalToken, writeLocalToken } from "../machine/local-token.ts";
import { newSecret } from "../machine/secrets.ts";
import type { Config } from "./config.ts";
import type { Doors } from "./doors.ts";

export class OwnToken {
  readonly #path: string | undefined;
  readonly secret: string | undefined;

  /** Called when the folder of the state is this daemon's: a token that lies there is of before. */
  constructor({ localTokenFile, dataDir }: Pick<Config, "localTokenFile" | "dataDir">) {
    this.#path = localTokenFile;
    this.secret = localTokenFile === undefined ? undefined : newSecret();
    if (dataDir !== undefined) removeLocalToken(join(dataDir, LOCAL_TOKEN_NAME));
  }

  publish({ httpAddress, grpcAddress, a2aAddress, arcpAddress }: Doors): void {
    if (this.#path === undefined || this.secret === undefined) return;
    const addresses = [httpAddress, grpcAddress, a2aAddress, arcpAddress];
    const ports = addresses.flatMap((address) => (address ? [address.port] : []));
    writeLocalToken(this.#path, this.secret, ports);
  }

  /** Idempotent. */
  close(): void {
    if (this.#path !== undefined) removeLocalToken(this.#path);
  }
}
