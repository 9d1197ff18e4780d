/**
 * The real agent-status from PyPI beside ours: what one writes the other reads, the same words on
 * the command line do the same, and a broken file is broken in the same words.
 */
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { AGENT_STATUS_PYTHON, lacks } from "../../scripts/prerequisites.mjs";
import { parseStatus } from "../../src/wires/files/read.ts";
import { readTimestamp, writeTimestamp } from "../../src/wires/files/timestamp.ts";
import { environment, run as runOurs, Running, scratch, type Ended } from "../e2e/programs.ts";
import { BROKEN, SOUND, TIMESTAMPS } from "./agent-status/corpus.ts";

const isMissing = lacks("agent-status");
/** Nothing is there. */
const HOME = "/nowhere";
const VERDICTS = fileURLToPath(new URL("agent-status/verdicts.py", import.meta.url));
const PYTHON = { PYTHONDONTWRITEBYTECODE: "1", COLUMNS: "250" };

async function ours(args: readonly string[]): Promise<Ended> {
  return runOurs(args, { program: "agent-status", home: HOME });
}

async function theirs(args: readonly string[]): Promise<Ended> {
  const command = ["-m", "agent_status", ...args];
  await using peer = new Running(AGENT_STATUS_PYTHON, command, environment(HOME, PYTHON));
  return await peer.end();
}

async function both(args: readonly string[]): Promise<readonly [Ended, Ended]> {
  return Promise.all([ours(args), theirs(args)]);
}

interface Verdicts {
  readonly files: Readonly<Record<string, readonly string[]>>;
  readonly moments: Readonly<Record<string, number | string>>;
}

function verdicts(files: readonly string[], moments: readonly string[]): Verdicts {
  const input = JSON.stringify({ files, moments });
  const env = environment(HOME, PYTHON);
  const output = execFileSync(AGENT_STATUS_PYTHON, [VERDICTS], { input, env, encoding: "utf8" });
  return JSON.parse(output) as Verdicts;
}

function place(directory: string, texts: readonly string[]): readonly string[] {
  return texts.map((text, i) => {
    const path = join(directory, `${String(i).padStart(3, "0")}.json`);
    fs.writeFileSync(path, text);
    return path;
  });
}

function errorsOf(text: string): readonly string[] {
  const parsed = parseStatus(text);
  if ("status" in parsed) return [];
  const prefix = parsed.reason === "json" ? "invalid JSON: " : "";
  return parsed.problems.map((problem) => prefix + problem);
}

describe.skipIf(isMissing)("the real agent-status", { timeout: 60_000 }, () => {
  test("finds the same errors in the same words", () => {
    using directory = scratch();
    expect(BROKEN.length).toBeGreaterThanOrEqual(60);
    const texts = [...BROKEN, ...SOUND];
    const paths = place(directory.path, texts);
    const { files } = verdicts(paths, []);
    for (const [i, text] of texts.entries()) {
      expect({ text, errors: errorsOf(text) }).toEqual({ text, errors: files[paths[i] ?? ""] });
    }
    expect(BROKEN.filter((text) => errorsOf(text).length === 0)).toEqual([]);
  });

  test("reads the same moments from the same texts", () => {
    const { moments } = verdicts([], TIMESTAMPS);
    for (const text of TIMESTAMPS) {
      const read = readTimestamp(text);
      const [mine, its] = [read, moments[text]].map((each) =>
        typeof each === "number" ? Math.round(each * 1000) : each,
      );
      expect(`${text}: ${mine}`).toBe(`${text}: ${its}`);
    }
  });

  test("where the peer lets through what breaks its own list, we do not", () => {
    using directory = scratch();
    const whole = JSON.parse(SOUND[0] ?? "") as object;
    const runtime = { lifecycle: "running", updated_at: "2026-06-20T16:45:00Z", pid: true };
    const texts = [
      { ...whole, runtime: {} },
      { ...whole, runtime },
    ].map((each) => JSON.stringify(each));
    const { files } = verdicts(place(directory.path, texts), []);
    expect(Object.values(files)).toEqual([[], []]);
    expect(texts.map((text) => errorsOf(text).length)).toEqual([2, 1]);
  });

  test("emit writes the same bytes to the same place", async () => {
    using directory = scratch();
    const flags = [
      ["--agent-id", "pi-1", "--agent-name", "pi", "--lifecycle", "running"],
      ["--workspace", "./test/../src", "--pid", "-12", "--updated-at", "2026-06-20T16:45:00Z"],
      ["--last-activity-at", "2026-06-20T16:44:52Z", "--goal-summary", "fair 日本語 😀"],
      ["--goal-updated-at", "2026-06-20T16:45:00Z", "--goal-source", "initial-prompt"],
      ["--task-id=t", "--context-i", "c", "--task-state", "working", "--task-summary", ""],
      ["--task-status-timestamp", "2026-06-20T16:45:00Z", "--agent-card-url", "http://x"],
      ["--service-url", "http://y", "--meta", "a=b=c", "--meta", "é=\u007f", "--meta", "a=2"],
    ].flat();
    const [mine, its] = ["ours", "theirs"].map((name) => join(directory.path, name, "deep"));
    const [a, b] = await Promise.all([
      ours(["emit", ...flags, "--status-dir", mine ?? ""]),
      theirs(["emit", ...flags, "--status-dir", its ?? ""]),
    ]);
    expect([a, b]).toMatchObject([{ code: 0 }, { code: 0 }]);
    expect([a.stdout, b.stdout]).toEqual([`${mine}/pi-1.json\n`, `${its}/pi-1.json\n`]);
    const [ourText, theirText] = [a, b].map(({ stdout }) => fs.readFileSync(stdout.trim(), "utf8"));
    expect(ourText).toBe(theirText);
    expect([a, b].map(({ stdout }) => fs.statSync(stdout.trim()).mode & 0o777)).toEqual([
      0o600, 0o600,
    ]);
    expect(await theirs(["validate", a.stdout.trim()])).toMatchObject({
      code: 0,
      stdout: "valid\n",
    });
    expect(await ours(["validate", b.stdout.trim()])).toMatchObject({ code: 0, stdout: "valid\n" });
  });

  test("get prints the same bytes", async () => {
    using directory = scratch();
    place(directory.path, SOUND);
    for (const i of SOUND.keys()) {
      const args = ["get", String(i).padStart(3, "0"), "--status-dir", directory.path];
      const [mine, its] = await both(args);
      expect([mine.code, mine.stdout]).toEqual([its.code, its.stdout]);
    }
  });

  test("list shows the same agents in the same order, with the same warnings", async () => {
    using directory = scratch();
    const now = Date.now();
    const states = ["working", "input-required", "failed", "canceled", "completed", undefined];
    // Far from a minute: the two programs look at their clocks some moments apart.
    const ages = [0, 8, 74, 4, 10, 85, 6, 12, 96, 2, 710, 7];
    for (const [i, state] of [...states, ...states].entries()) {
      const age = ages[i] ?? 0;
      const args = ["--agent-id", `agent-${(i * 7) % 12}`, "--agent-name", `name-${i}`];
      const at = ["--updated-at", writeTimestamp(now - age * 1000), "--lifecycle", "running"];
      const doing = state === undefined ? [] : ["--task-state", state];
      const write = i % 2 === 0 ? ours : theirs;
      await write(["emit", ...args, ...at, ...doing, "--status-dir", directory.path]);
    }
    fs.writeFileSync(join(directory.path, "not-json.json"), "{'a': 1}");
    fs.writeFileSync(join(directory.path, "no-status.json"), '{"task": []}');
    const args = ["list", "--no-color", "--status-dir", directory.path];
    const [mine, its] = await both(args);
    const idsOf = ({ stdout }: Ended) => stdout.match(/agent-\d+/g);
    expect(idsOf(mine)).toHaveLength(12);
    expect(idsOf(mine)).toEqual(idsOf(its));
    const linesOf = ({ stderr }: Ended) => stderr.trim().split("\n").toSorted();
    expect(linesOf(mine)).toEqual(linesOf(its));
    expect([mine.code, its.code]).toEqual([0, 0]);
  });

  test.each([
    [[]],
    [["--prune-after", "3600"]],
    [["--prune-after", "3600", "--keep-stopped"]],
    [["--prune-after", "60", "--stale-after", "7200", "--keep-stopped"]],
    [["--prune-after", "-1", "--stale-after", "0"]],
  ])("prune %j removes the same files", async (flags) => {
    using directory = scratch();
    const texts = ["running", "stopped", "unknown"].flatMap((lifecycle) =>
      [-100, 10, 100, 4000, 8000, 90_000, 200_000].map((age, i) => {
        const updated_at = writeTimestamp(Date.now() - age * 1000);
        const whole = JSON.parse(SOUND[0] ?? "") as object;
        return JSON.stringify({
          ...whole,
          agent_id: `${lifecycle}-${i}`,
          runtime: { lifecycle, updated_at },
        });
      }),
    );
    const outcome = async (program: typeof ours) => {
      place(directory.path, [...texts, "{"]);
      const { code, stdout } = await program(["prune", ...flags, "--status-dir", directory.path]);
      return { code, stdout, left: fs.readdirSync(directory.path).toSorted() };
    };
    const mine = await outcome(ours);
    expect(mine).toEqual(await outcome(theirs));
    expect(mine.stdout).not.toBe("");
  });

  test.each([
    [[]],
    [["--help"]],
    [["bogus"]],
    [["list", "--bogus"]],
    [["list", "extra", "-x"]],
    [["list", "--stale-after", "1.5"]],
    [["list", "--stale-after"]],
    [["list", "--st", "x"]],
    [["list", "--color=yes"]],
    [["list", "--status-dir", "/nowhere/at/all"]],
    [["get"]],
    [["get", "a/b"]],
    [["get", ""]],
    [["get", "--", "-x"]],
    [["get", "x", "--status-dir", "/nowhere//at/./all/"]],
    [["validate", "/nowhere"]],
    [["validate", "package.json"]],
    [["watch", "--interval", "soon"]],
    [["prune", "--prune-after", "it's"]],
    [["prune", "--keep-stopped=1"]],
    [["emit"]],
    [["emit", "--agent-id", "-x", "--agent-name", "b"]],
    [["emit", "--agent-id", "a", "--agent-name", "b", "--lifecycle", "asleep"]],
    [["emit", "--agent-id", "a", "--agent-name", "b", "--lifecycle", "running", "--pid", "x"]],
    [["emit", "--agent-id", "a", "--agent-name", "b", "--lifecycle", "running", "--meta", "x"]],
    [["emit", "--agent-id", "a", "--agent-name", "b", "--lifecycle", "running", "--meta", "=x"]],
    [["emit", "--agent-id", "a/b", "--agent-name", "b", "--lifecycle", "running"]],
    [
      [
        "emit",
        "--agent-id",
        "a",
        "--agent-name",
        "",
        "--lifecycle",
        "running",
        "--updated-at",
        "x",
      ],
    ],
    [
      [
        "emit",
        "--agent-id",
        "a",
        "--agent-name",
        "b",
        "--lifecycle",
        "running",
        "--goal-summary",
        "x",
      ],
    ],
  ] as readonly (readonly [readonly string[]])[])("%j ends in the same way", async (args) => {
    const [mine, its] = await both(args);
    expect(mine.code).toBe(its.code);
    // A crash of the peer has no wording to share.
    if (its.stderr.includes("Traceback") || args.includes("--help")) return;
    expect(mine.stderr.split("\n").at(-2)).toBe(its.stderr.split("\n").at(-2));
    if (args[0] !== "list") expect(mine.stdout).toBe(its.stdout);
  });
});
