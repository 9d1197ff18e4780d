/**
 * Files run side by side, one process each, but for those of modules that keep nothing to
 * themselves: a process takes one after the other. A busy machine may need long for a short test.
 */
import { readdirSync, readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

/** To start a process and load the same modules again takes longer than most of their tests. */
const KEEP_NOTHING = [
  "core",
  "directory",
  "engine",
  "fleet",
  "identity",
  "jobs",
  "net",
  "notify",
  "operations",
  "wires/acp",
  "wires/api",
  "wires/arcp",
  "wires/keeper",
];

/** A test that puts another module in the place of one that may be loaded already is alone. */
function mocks(file: string): boolean {
  return readFileSync(file, "utf8").includes("vi.mock(");
}

const together = KEEP_NOTHING.map((folder) => `src/${folder}`).flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((file) => `${folder}/${file}`)
    .filter((file) => file.endsWith(".test.ts") && !mocks(file)),
);

export default defineConfig({
  oxc: { target: "node20.19" },
  test: {
    globalSetup: "test/setup.ts",
    setupFiles: "test/patience.ts",
    pool: "forks",
    // One more than cores: many wait for a disk, a timer or another program.
    maxWorkers: 3,
    silent: "passed-only",
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    projects: [
      { extends: true, test: { name: "together", include: together, isolate: false } },
      {
        extends: true,
        test: { name: "alone", include: ["{src,test,bench}/**/*.test.ts"], exclude: together },
      },
    ],
  },
});
