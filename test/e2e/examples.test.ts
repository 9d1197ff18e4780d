import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));
const examples = readdirSync(`${root}/examples`).filter((name) => /\.(?:ts|mjs)$/.test(name));

test.each(examples)("the example %s runs and its assertions hold", async (name) => {
  // JavaScript as its reader runs it, on this very Node.
  const args = [...(name.endsWith(".ts") ? ["scripts/run-ts.mjs"] : []), `examples/${name}`];
  const run = promisify(execFile)(process.execPath, args, { cwd: root });
  await expect(run).resolves.toMatchObject({ stderr: "" });
});
