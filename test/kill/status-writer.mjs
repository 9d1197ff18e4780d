/**
 * A writer of one status file, as fast as it can, until it is killed. Each text is long enough to
 * be caught in the middle, and says in two places which one it is. What was written is printed.
 */
import { writeSync } from "node:fs";
import { writeStatus, writeStatusSync } from "../../dist/lib/status.js";

const [directory = "", name = ""] = process.argv.slice(2);

for (let n = 1; ; n += 1) {
  /** @type {import("../../dist/lib/status.js").Status} */
  const status = {
    schema_version: "agent-status/v1alpha1",
    agent_id: "victim",
    agent_name: name,
    runtime: { lifecycle: "running", updated_at: "2026-06-20T16:45:00Z", pid: n },
    x_meta: { filler: `${n} `.repeat(100_000), last: `${name} ${n}` },
  };
  if (n % 2 === 0) writeStatusSync(status, directory);
  else await writeStatus(status, directory);
  writeSync(1, `${n}\n`);
}
