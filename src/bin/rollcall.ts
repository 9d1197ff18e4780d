/**
 * The program `rollcall`. Coding agents wait for their hooks, and the command line alone would cost
 * more than all that a hook does: so hooks are dealt with here, and all else is in another file. So
 * are the proxy that an editor waits for, and `ls`. Built as CommonJS, with which Node starts a
 * fifth faster.
 */
import * as module from "node:module";
import { isProxyCall } from "../cli/acp/words.ts";
import { isPlainCall } from "../cli/fleet/words.ts";
import { hook } from "../coding-agents/hooks/hook.ts";

const [word, ...rest] = process.argv.slice(2);
const [host = "--help"] = rest;
if (word === "hook" && !host.startsWith("-")) void hook(host);
else if (word === "acp" && isProxyCall(rest)) start("./acp.cjs");
else if (word === "ls" && isPlainCall(rest)) {
  // Where Node can, compiled code is kept for the next start.
  (module as { enableCompileCache?: () => void }).enableCompileCache?.();
  start("./ls.cjs");
} else void import(new URL("./rollcall.js", import.meta.url).href);

/** By `import` Node would read all of it first, for its exports. */
function start(program: string): void {
  module.createRequire(import.meta.url)(program);
}
