import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { AGENTKEEPER_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { daemon, environment, programFile, Running, scratch } from "../e2e/programs.ts";

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
  "the Python SDK starts daemons itself, two at once, and one finds its state again",
  { timeout: 40_000 },
  async () => {
    using home = scratch();
    await python("embedded.py", join(home.path, "state"), home.path);
  },
);
