/** The binary `agent-status`: status files, with the flags that its users know. */
import * as module from "node:module";

(module as { enableCompileCache?: () => void }).enableCompileCache?.();
const { agentStatus } = await import("../cli/status/agent-status.ts");
await agentStatus(process.argv.slice(2));
