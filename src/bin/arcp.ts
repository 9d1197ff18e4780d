/** The binary `arcp`: jobs on agents, with the commands and flags that users of the SDKs know. */
import * as module from "node:module";

(module as { enableCompileCache?: () => void }).enableCompileCache?.();
const { arcp } = await import("../cli/run.ts");
await arcp(process.argv.slice(2));
