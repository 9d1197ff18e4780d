/** Programs that tests start often, and kill: bundled once, with the sources as they are. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll } from "vitest";
import { bundle, THREADS } from "../../scripts/bundle.mjs";
import { root } from "../../scripts/root.mjs";

/** Where the program lies until the tests of this file are over. */
export async function bundled(source: string): Promise<string> {
  const cache = join(root, ".cache");
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "program-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const name = basename(source, ".ts");
  await bundle({ ...THREADS, [name]: source }, folder);
  return join(folder, `${name}.js`);
}
