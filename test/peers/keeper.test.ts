import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { AGENTKEEPER_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { Engine } from "../../src/engine/engine.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { daemon, environment, programFile, Running, scratch } from "../e2e/programs.ts";
import { LIBRARY } from "../../src/core/by.ts";

const SCRIPTS = fileURLToPath(new URL("keeper/", import.meta.url));
const isMissing = lacks("agentkeeper-sdk");

/** Runs a script with the real SDK; what it asserts is what is tested. */
async function python(script: string, argument: string, home: string): Promise<void> {
  const env = environment(home, {
    AGENTKEEPER_BIN: programFile("agentkeeper"),
    PYTHONDONTWRITEBYTECODE: "1",
  });
  await using running = new Running(AGENTKEEPER_PYTHON, [join(SCRIPTS, script), argument], env);
  const { code, stdout, stderr } = await running.end();
  if (code !== 0) throw new Error(`${script} ended with ${code}: ${stdout}${stderr}`);
}

test.skipIf(isMissing).for([
  ["registry.py", "agents register, heartbeat, fall silent, die, and take along what they held"],
  ["find.py", "agents are found by all of their tools while they are alive"],
  ["leases.py", "one agent at a time holds a lease, and wrong tokens are refused"],
  ["elections.py", "one candidate leads, until it resigns or dies"],
  ["policies.py", "policies allow and deny, and say which one decided"],
  ["tasks.py", "tasks are claimed in order, wait, come back, and are fenced"],
  ["events.py", "the bus tells everything once, in order, also from the past"],
  ["examples.py", "every example of its page does what the page says"],
  ["tools.py", "health and reflection say what is served"],
] as const)("the Python SDK, %s: %s", { timeout: 40_000 }, async ([script]) => {
  using home = scratch();
  const { up, url } = await daemon("--memory");
  await using running = up;
  const [, port = ""] = await running.says(/gRPC +127\.0\.0\.1:(\d+)/);
  await python(script, port, home.path);
  const metrics = await (await fetch(`${url}/metrics`)).text();
  expect(metrics).toMatch(/agentkeeper_rpc_total\{method="\/agentkeeper\.v1\.\w+\/\w+"\} [1-9]/);
  expect(metrics).toMatch(/agentkeeper_rpc_seconds_count\{method="\/agentkeeper\S+"\} [1-9]/);
  expect(running.stderr).not.toMatch(/"level":"?(?:error|fatal|50|60)/);
});

test.skipIf(isMissing)(
  "the Python SDK finds and starts daemons itself, two at once, and one finds its state again",
  { timeout: 60_000 },
  async () => {
    using home = scratch();
    await python("embedded.py", home.path, home.path);
  },
);

// "OUT_OF_RANGE when the log no longer reaches back to the sequence asked for"
test.skipIf(isMissing)(
  "the Python SDK, truncated.py: a watcher whose place is gone is told where to go on from",
  { timeout: 40_000 },
  async () => {
    using home = scratch();
    await truncatedLog(join(home.path, "rollcall.db"));
    const { up } = await daemon("--data-dir", home.path);
    await using running = up;
    const [, port = ""] = await running.says(/gRPC +127\.0\.0\.1:(\d+)/);
    await python("truncated.py", port, home.path);
  },
);

/** A log that has a policy in its snapshot, and has let go of how it came there. */
async function truncatedLog(path: string): Promise<void> {
  const store = sqliteStore({ path });
  const retention = { snapshotEveryEvents: 10, maxEvents: 5 };
  const engine = await Engine.open({ log: store.log, retention });
  const about = { subject: "*", action: "*", resource: "*", effect: "allow" } as const;
  for (let i = 0; i < 20; i += 1) {
    await engine.execute({ type: "policy.set", policy: { id: "kept", ...about } }, LIBRARY);
  }
  await vi.waitFor(
    async () => {
      await engine.execute({ type: "policy.set", policy: { id: "kept", ...about } }, LIBRARY);
      expect((await store.log.open()).oldest).toBeGreaterThan(10);
    },
    { timeout: 20_000 },
  );
  await engine.close();
  await store.close();
}
