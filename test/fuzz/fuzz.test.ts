import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { bundled } from "../support/bundled.ts";
import { MAX_BYTES, mutateBytes } from "./mutate-bytes.ts";
import { mutateJson } from "./mutate-json.ts";
import { Random } from "../simulation/random.ts";
import type { Target } from "./target.ts";
import { Trial } from "./trial.ts";

const program = await bundled("test/fuzz/main.ts");
const folder = mkdtempSync(join(tmpdir(), "rollcall-fuzz-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A process of its own: the coverage of this one is of all that vitest loads. */
function fuzz(...args: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...args], {
    cwd: folder,
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

test.each([1, 2])("from seed %i it finds a bug that blind input does not", (seed) => {
  const search = ["--target", "planted", "--seed", String(seed), "--inputs", "100000"];
  const guided = fuzz(...search);
  expect(guided.stderr).toContain("the planted bug");
  expect(guided.status).toBe(1);
  // The file that it left does it again.
  const again = /npm run fuzz -- (.*)$/m.exec(guided.stderr)?.[1] ?? "";
  expect(fuzz(...again.split(" "))).toMatchObject({ status: 1, stdout: "" });
  expect(fuzz(...search, "--blind")).toMatchObject({ status: 0, stderr: "" });
});

function trial(run: (input: Buffer) => unknown): Trial {
  const target: Target = { name: "planted", seeds: [], words: [], mutate: mutateBytes, run };
  return new Trial(target);
}

test("an input that takes too long fails, and one that takes too much", () => {
  const isAll = (input: Buffer) => /^(?:a+)+$/.test(input.toString("latin1"));
  const [short, long] = [Buffer.from("aaa"), Buffer.from(`${"a".repeat(26)}!`)];
  expect(trial(isAll).all([short, long])).toMatchObject({ kind: "hang", input: long });
  const held: Buffer[] = [];
  const hold = (input: Buffer) => held.push(Buffer.alloc(input.length * 20_000_000));
  expect(trial(hold).all([short, long])).toMatchObject({ kind: "memory", input: long });
});

test("an input that is a tree grows no larger than one of bytes", () => {
  const random = new Random(1);
  const other = Buffer.from('{"a":[1,{"b":"x"}]}');
  let input: Buffer = other;
  for (let i = 0; i < 3_000; i += 1) {
    input = mutateJson(input, { random, words: [], other: input });
    expect(input.length).toBeLessThanOrEqual(MAX_BYTES);
    if (input.length < 10) input = other;
  }
});
