/** The binary `agentkeeper`: the daemon under the name and with the flags that its users know. */
import * as module from "node:module";

(module as { enableCompileCache?: () => void }).enableCompileCache?.();
const { single } = await import("../cli/run.ts");
await single("agentkeeper", process.argv.slice(2), async () => {
  return (await import("../cli/commands/agentkeeper.ts")).agentkeeper;
});
