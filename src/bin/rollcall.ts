/**
 * The program `rollcall`. Coding agents wait for their hooks, and the command line alone would cost
 * more than all that a hook does: so hooks are dealt with here, and all else is in another file. So
 * is the proxy that an editor waits for. Built as CommonJS, with which Node starts a fifth faster.
 */
import { createRequire } from "node:module";
import { isProxyCall } from "../cli/acp/words.ts";
import { hook } from "../coding-agents/hooks/hook.ts";

const [word, ...rest] = process.argv.slice(2);
const [host = "--help"] = rest;
if (word === "hook" && !host.startsWith("-")) void hook(host);
else if (word === "acp" && isProxyCall(rest)) {
  // By `import` Node would read all of it first, for its exports.
  createRequire(import.meta.url)("./acp.cjs");
} else void import(new URL("./rollcall.js", import.meta.url).href);
