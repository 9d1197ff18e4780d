// One real coding agent end to end; `npm run hosts` plays all of them, and every moment.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { lacks } from "../../scripts/prerequisites.mjs";
import { root } from "../../scripts/root.mjs";

test.skipIf(lacks("tmux") || lacks("namespaces"))(
  "Pi in a terminal, without a network: every row is right within two seconds",
  { timeout: 180_000 },
  () => {
    const script = join(root, "scripts/hosts.mjs");
    const played = spawnSync(process.execPath, [script, "pi-brief"], { encoding: "utf8" });
    expect(played.stdout + played.stderr).toContain("7 of 7 cells right");
  },
);
