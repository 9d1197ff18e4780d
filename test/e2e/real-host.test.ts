// One real coding agent end to end; `npm run hosts` plays all of them, and every moment.
import { spawnSync } from "node:child_process";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { root } from "../../scripts/root.mjs";

function hosts(...words: readonly string[]) {
  const args = [join(root, "scripts/hosts.mjs"), ...words];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, said: stdout + stderr };
}

test.skipIf(lacks("tmux") || lacks("namespaces"))(
  "Pi in a terminal, without a network: every row is right within two seconds",
  { timeout: 180_000 },
  () => {
    expect(hosts("pi-brief").said).toContain("7 of 7 cells right");
  },
);

test.skipIf(Object.keys(networkInterfaces()).length <= 1)(
  "where there is a network, no coding agent is run",
  { timeout: 60_000 },
  () => {
    const { status, said } = hosts("--inside", "pi-brief");
    expect(status).toBe(1);
    expect(said).toContain("run only in a network namespace with loopback alone");
  },
);
