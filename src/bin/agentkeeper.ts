/** The binary `agentkeeper`: the daemon under the name and with the flags that its users know. */
import { single } from "../cli/run.ts";

await single("agentkeeper", process.argv.slice(2), async () => {
  return (await import("../cli/commands/agentkeeper.ts")).agentkeeper;
});
