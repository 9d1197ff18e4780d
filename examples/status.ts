/** An agent that shows what it does, and a program that looks on: status files, no daemon. */
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
// #region use
import { derive, StatusEmitter, watchStatusDir } from "rollcall/status";

const folder = process.env["AGENT_STATUS_DIR"] ?? (await scratch());
const emitter = new StatusEmitter({ agentName: "scraper", folder });
emitter.goal("Collect this month's invoices");
emitter.task({ state: "input-required", summary: "Which account shall I log in to?" });

for await (const { read } of watchStatusDir(folder)) {
  const [file] = read;
  if (file?.kind !== "status") continue;
  console.log(file.status.agent_name, derive(file.status, { nowMs: Date.now() })); // input-required
  break;
}
await emitter.close(); // the file is gone
// #endregion

async function scratch(): Promise<string> {
  return mkdtemp(join(tmpdir(), "rollcall-example-"));
}

for await (const { read } of watchStatusDir(folder)) {
  assert.deepEqual(read, []);
  break;
}
await rm(folder, { recursive: true });
