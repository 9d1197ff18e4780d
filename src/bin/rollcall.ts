/**
 * The program `rollcall`. Coding agents wait for their hooks, editors for the proxy, people and
 * prompts for `ls`, and the command line alone would cost more than all that these do: so each of
 * them is a program of its own, and all else is in another file. Built as CommonJS, with which Node
 * starts a fifth faster.
 */
import { isProxyCall } from "../cli/acp/words.ts";
import { isPlainCall } from "../cli/fleet/words.ts";
import { start, startKept } from "./start.ts";

const [word, ...rest] = process.argv.slice(2);
const [host = "--help"] = rest;
if (word === "hook" && !host.startsWith("-")) startKept("hook.cjs");
else if (word === "acp" && isProxyCall(rest)) start("acp.cjs");
else if (word === "ls" && isPlainCall(rest)) startKept("ls.cjs");
else void import(new URL("./rollcall.js", import.meta.url).href);
