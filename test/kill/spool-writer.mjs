/**
 * A hook that never ends: leaves one fact after the other in the folder it is given, takes in
 * whatever waits each time, and says which fact it has left. It is there to be killed.
 */
import { writeSync } from "node:fs";
import { deposit, factId } from "../../dist/coding-agents/hooks/deposit.js";
import { newSession } from "../../dist/coding-agents/hooks/session.js";
import { Spool } from "../../dist/coding-agents/hooks/spool.js";

const [, , folder = "", limit = "0"] = process.argv;
const spool = new Spool({
  folder,
  initial: newSession("codex", "s"),
  publish: () => undefined,
});
for (let count = 0; count < Number(limit); count += 1) {
  const order = Number(process.hrtime.bigint() / 1000n);
  deposit(folder, { id: factId(order), order, atMs: Date.now(), event: "PreToolUse" });
  writeSync(1, ".");
  spool.settle();
}
