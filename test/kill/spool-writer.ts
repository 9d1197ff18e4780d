/**
 * A hook that never ends: leaves one fact after the other in the folder it is given, takes in
 * whatever waits each time, and says which fact it has left. It is there to be killed.
 */
import { sayNow } from "./say.ts";
import { deposit, factId } from "../../src/coding-agents/hooks/deposit.ts";
import { newSession } from "../../src/coding-agents/hooks/session.ts";
import { Spool } from "../../src/coding-agents/hooks/spool.ts";

const [, , folder = "", limit = "0"] = process.argv;
const spool = new Spool({
  folder,
  initial: newSession("codex", "s"),
  publish: () => undefined,
});
for (let count = 0; count < Number(limit); count += 1) {
  const order = Number(process.hrtime.bigint() / 1000n);
  deposit(folder, { id: factId(order), order, atMs: Date.now(), event: "PreToolUse" });
  sayNow(".");
  spool.settle();
}
