/** The house rules that neither the compiler nor the linter can check. */
import { expect, test } from "vitest";
import { isDocument, unexplainedDependencies, unprovenBlocks } from "./tidy/documents.ts";
import { missingFromLock } from "./tidy/lock.ts";
import { wrongImports } from "./tidy/layers.ts";
import { brokenLines, machinePaths } from "./tidy/lines.ts";
import { isSource, readSource, repositoryFiles, textOf } from "./tidy/source.ts";

const MAX_LINES = 400;
const BINARY = /\.(?:png|ico|bin|gz|woff2|safetensors|onnx|db)$/;

const files = repositoryFiles();
const sources = files.filter(isSource).map(readSource);
const written = sources.filter((source) => !source.isGenerated);
const ours = written.filter(({ path }) => path.startsWith("src/"));

test("imports point down only, a wire never imports a wire, and core imports only core", () => {
  expect(ours.flatMap(wrongImports)).toEqual([]);
});

test("no file of src has more than 400 lines", () => {
  const long = ours.filter(({ lines }) => lines.length > MAX_LINES + 1);
  expect(long.map(({ path, lines }) => `${path}: ${lines.length - 1} lines`)).toEqual([]);
});

test("every file opens with what it is for", () => {
  const silent = written.filter(
    ({ path, hasOpening }) => !hasOpening && !/(?:\.test\.ts|\/index\.ts)$/.test(path),
  );
  expect(silent.map(({ path }) => `${path} does not begin with a /** comment */`)).toEqual([]);
});

test("no line breaks a house rule without saying why", () => {
  expect(written.flatMap(brokenLines)).toEqual([]);
});

test("no file names a path of the machine it was written on", () => {
  const texts = files.filter((path) => !BINARY.test(path));
  expect(texts.flatMap((path) => machinePaths(path, textOf(path)))).toEqual([]);
});

test("the lock file names no host, so that any registry serves", () => {
  expect(textOf("package-lock.json").match(/"resolved": "\w+:.*/g) ?? []).toEqual([]);
});

test("the lock file has what a package needs on every platform, or npm ci refuses it", () => {
  expect(missingFromLock(textOf("package-lock.json"))).toEqual([]);
});

test("every runtime dependency has its reason in ARCHITECTURE.md", () => {
  expect(unexplainedDependencies()).toEqual([]);
});

test("every code block of the documents is run, cut from what is run, or says why not", () => {
  const documents = files.filter(isDocument);
  expect(documents.flatMap((path) => unprovenBlocks(path, written))).toEqual([]);
});
