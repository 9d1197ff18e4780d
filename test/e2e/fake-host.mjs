/**
 * A coding agent as far as its hooks can tell: a process that runs them through a shell, one for
 * each line of its standard input, side by side, and prints for each what it printed and how it
 * ended. The arguments are the command.
 */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/** @param {string} line */
const say = (line) => process.stdout.write(`${line}\n`);
const command = process.argv
  .slice(2)
  .map((word) => `'${word}'`)
  .join(" ");

say(JSON.stringify({ host: process.pid }));
for await (const line of createInterface({ input: process.stdin })) {
  // The second command keeps the shell from becoming the first.
  const child = spawn("sh", ["-c", `${command}; exit $?`], { stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text) => (stderr += text));
  child.on("close", (code) => say(JSON.stringify({ code, stdout, stderr })));
  child.stdin.end(line);
}
