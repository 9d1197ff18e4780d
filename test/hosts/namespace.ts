/**
 * A network with loopback alone, and a table of processes that ends with us. The programs under
 * test phone home, update themselves, send prompts to whatever model they find and leave daemons
 * behind, so they run where none of that reaches anything. There is no other way to run them here:
 * where no such place can be made, nothing runs.
 */
import { spawn } from "node:child_process";
import { networkInterfaces } from "node:os";

const PLACE = ["--net", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Runs a program inside of one; its exit code. */
export async function inNamespace(program: readonly string[]): Promise<number> {
  const place = process.getuid?.() === 0 ? PLACE : ["--map-root-user", ...PLACE];
  // The shell stays: the first process of a place buries the dead.
  const script = 'ip link set lo up && "$@"; exit $?';
  const child = spawn("unshare", [...place, "sh", "-c", script, "sh", ...program], {
    stdio: "inherit",
  });
  return new Promise((resolve, reject) => {
    child.on("error", (error) => reject(new Error(refusal(error.message), { cause: error })));
    child.on("exit", (code) => resolve(code ?? 1));
  });
}

/** Stops everything unless this process has loopback and nothing else. */
export function mustBeAlone(): void {
  const names = Object.keys(networkInterfaces());
  if (names.length === 1 && names[0] === "lo") return;
  throw new Error(refusal(`this process sees ${names.join(", ") || "no interface"}`));
}

function refusal(reason: string): string {
  return `real coding agents run only in a network namespace with loopback alone: ${reason}`;
}
