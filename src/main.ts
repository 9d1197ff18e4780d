/** The binary `rollcall`. Where Node can, compiled code is kept for the next start. */
import * as module from "node:module";

(module as { enableCompileCache?: () => void }).enableCompileCache?.();
const { rollcall } = await import("./cli/run.ts");
await rollcall(process.argv.slice(2));
