/** A daemon in this process, on free ports, that hosts an agent that never ends by itself. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { formatAddress } from "../../src/daemon/address.ts";
import { startDaemon } from "../../src/daemon/compose.ts";
import { loadConfig } from "../../src/daemon/config.ts";

const AGENT = fileURLToPath(new URL("../e2e/agents/steps.mjs", import.meta.url));

export interface HostingDaemon {
  readonly url: string;
  readonly grpcAddress: string;
  close(): Promise<void>;
}

export async function startHosting(): Promise<HostingDaemon> {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-access-"));
  const file = join(folder, "rollcall.toml");
  writeFileSync(file, `[agents.steps]\nmodule = ${JSON.stringify(AGENT)}\n`);
  const config = await loadConfig({
    flags: {
      config: file,
      addr: "127.0.0.1:0",
      "http-addr": "127.0.0.1:0",
      "log-level": "silent",
      "status-files": "false",
      memory: "true",
    },
    env: {},
  });
  const daemon = await startDaemon(config);
  const { httpAddress, grpcAddress } = daemon;
  if (!httpAddress || !grpcAddress) throw new Error("a door is closed");
  return {
    url: `http://${formatAddress(httpAddress)}`,
    grpcAddress: formatAddress(grpcAddress),
    async close() {
      await daemon.close();
      rmSync(folder, { recursive: true });
    },
  };
}
