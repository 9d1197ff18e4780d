/** Files run side by side, one process each; a test that needs more than 15 s says so itself. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  oxc: { target: "node20.19" },
  test: {
    include: ["{src,test,bench}/**/*.test.ts"],
    globalSetup: "test/build.ts",
    setupFiles: "test/patience.ts",
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 15_000,
    hookTimeout: 15_000,
    restoreMocks: true,
    unstubEnvs: true,
  },
});
