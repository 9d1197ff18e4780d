/**
 * `tee.mjs FILE COMMAND…`: runs a command and writes down what goes in and what comes out, byte by
 * byte, in FILE.in and FILE.out.
 */
import { spawn } from "node:child_process";
import { openSync, writeSync } from "node:fs";

const [file = "", command = "", ...args] = process.argv.slice(2);
const [into, outOf] = [openSync(`${file}.in`, "w"), openSync(`${file}.out`, "w")];
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
process.stdin.on("data", (chunk) => {
  writeSync(into, chunk);
  child.stdin.write(chunk);
});
process.stdin.on("end", () => child.stdin.end());
child.stdin.on("error", () => undefined);
child.stdout.on("data", (chunk) => {
  writeSync(outOf, chunk);
  process.stdout.write(chunk);
});
for (const signal of /** @type {const} */ (["SIGTERM", "SIGINT", "SIGHUP"])) {
  process.on(signal, () => child.kill(signal));
}
child.on("close", (code) => process.exit(code ?? 1));
