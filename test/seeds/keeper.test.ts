import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AGENTKEEPER_PYTHON, AGENTKEEPER_TESTS, lacks } from "../../scripts/prerequisites.mjs";
import { daemon, environment, programFile, Running, scratch } from "../e2e/programs.ts";

/** Twenty daemons start and stop, on a machine that may be busy. */
const PATIENCE_MS = 60_000;

const SCRIPTS = fileURLToPath(new URL("keeper/", import.meta.url));

/** Runs Python with the SDK, which finds the daemon under test at the addresses of its page. */
async function python(...args: readonly string[]): Promise<string> {
  using home = scratch();
  const { up } = await daemon("--memory", "--no-status-files");
  await using running = up;
  const [, port] = await running.says(/gRPC +127\.0\.0\.1:(\d+)/);
  const env = environment(home.path, {
    AGENTKEEPER_BIN: programFile("agentkeeper"),
    PYTHONDONTWRITEBYTECODE: "1",
    PYTHONPATH: SCRIPTS,
    ROLLCALL_TEST_PORT: port,
    ROLLCALL_TEST_FOLDER: home.path,
  });
  await using script = new Running(AGENTKEEPER_PYTHON, args, env);
  const { code, stdout, stderr } = await script.end(PATIENCE_MS);
  expect([code, stderr, stdout]).toEqual([0, "", stdout]);
  return stdout;
}

const isMissing = lacks("agentkeeper-sdk") || lacks("agentkeeper-tests");

describe.concurrent("the AgentKeeper SDK", () => {
  test.skipIf(isMissing)(
    "every snippet of its page runs as it stands, and prints what it says",
    { timeout: 2 * PATIENCE_MS },
    async () => {
      const [, count] = /^(\d+) snippets$/m.exec(await python(`${SCRIPTS}snippets.py`)) ?? [];
      expect(Number(count)).toBeGreaterThanOrEqual(23);
    },
  );

  test.skipIf(isMissing)("its own tests pass", { timeout: 2 * PATIENCE_MS }, async () => {
    const args = ["-m", "pytest", "-q", "-p", "here", "-p", "no:cacheprovider"];
    expect(await python(...args, AGENTKEEPER_TESTS)).toContain("23 passed");
  });
});
