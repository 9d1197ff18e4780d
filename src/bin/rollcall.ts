/**
 * The program `rollcall`. Coding agents wait for their hooks, and the command line alone would cost
 * more than all that a hook does: so hooks are dealt with here, and all else is in another file.
 * Built as CommonJS, with which Node starts a fifth faster.
 */
import { hook } from "../hosts/hook.ts";

const [word, host = "--help"] = process.argv.slice(2);
if (word === "hook" && !host.startsWith("-")) void hook(host);
else void import(new URL("./rollcall.js", import.meta.url).href);
