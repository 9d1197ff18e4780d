import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { AGENTKEEPER_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { daemon, environment, programFile, Running, scratch } from "../e2e/programs.ts";

const SCRIPT = fileURLToPath(new URL("keeper/snippets.py", import.meta.url));

test.skipIf(lacks("agentkeeper-sdk"))(
  "every snippet of the AgentKeeper SDK's page runs as it stands, and prints what it says",
  { timeout: 60_000 },
  async () => {
    using home = scratch();
    const { up } = await daemon("--memory", "--no-status-files");
    await using running = up;
    const [, port = ""] = await running.says(/gRPC +127\.0\.0\.1:(\d+)/);
    const bin = { AGENTKEEPER_BIN: programFile("agentkeeper"), PYTHONDONTWRITEBYTECODE: "1" };
    const env = environment(home.path, bin);
    await using snippets = new Running(AGENTKEEPER_PYTHON, [SCRIPT, port, home.path], env);
    const { code, stdout, stderr } = await snippets.end();
    expect([code, stderr]).toEqual([0, ""]);
    const [, count] = /^(\d+) snippets$/m.exec(stdout) ?? [];
    expect(Number(count)).toBeGreaterThanOrEqual(23);
  },
);
