/** Files run side by side, one process each. A busy machine may need long for a short test. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  oxc: { target: "node20.19" },
  test: {
    include: ["{src,test,bench}/**/*.test.ts"],
    globalSetup: "test/setup.ts",
    setupFiles: "test/patience.ts",
    pool: "forks",
    maxWorkers: 2,
    silent: "passed-only",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
