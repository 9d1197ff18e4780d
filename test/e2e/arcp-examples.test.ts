/**
 * Every example of ARCP runs, prints what it shows (test/transcripts/arcp-examples, rewritten with
 * `-u`), and ends by itself; its assertions hold.
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundle, THREADS } from "../../scripts/bundle.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = `${root}examples/arcp`;
const names = readdirSync(folder)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => name.slice(0, -".ts".length));

// All in one go: what they share, which is nearly everything, is bundled once.
let directory = "";
beforeAll(async () => {
  mkdirSync(`${root}.cache`, { recursive: true });
  directory = mkdtempSync(`${root}.cache/examples-`);
  const entries = names.map((name) => [name, `examples/arcp/${name}.ts`] as const);
  await bundle({ ...THREADS, ...Object.fromEntries(entries) }, directory, {
    sourcemap: true,
    external: [/^(?!rollcall(?:$|\/)|@oxc-project\/runtime)[@a-z]/],
  });
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test.concurrent.for(names)("%s", { timeout: 30_000 }, async (name, { expect: expectHere }) => {
  const args = ["--enable-source-maps", `${directory}/${name}.js`];
  const run = promisify(execFile)(process.execPath, args, { timeout: 30_000 });
  const { stdout, stderr } = await run;
  expectHere(stderr).toBe("");
  const shown = stdout.replace(/^port \d+/, "port PORT");
  expectHere(shown).toMatch(/\S/);
  await expectHere(shown).toMatchFileSnapshot(`../transcripts/arcp-examples/${name}.txt`);
});

test("the list of examples names each of them, and nothing else", () => {
  const list = readFileSync(`${folder}/README.md`, "utf8");
  const named = [...list.matchAll(/^\| \[([\w-]+)\]\(\.\/\1\.ts\) \|/gm)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(names));
  expect(named).toHaveLength(names.length);
});
