/**
 * The first example of each help that needs a shell of its own: it serves until it is stopped,
 * starts another program, or is about files or a daemon elsewhere. Each line is taken from the help
 * and typed as it is printed there.
 */
import { execFile } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { environment, programFile, Running, scratch } from "../e2e/programs.ts";
import { tlsDaemon } from "../e2e/tls-daemon.ts";
import { BY_SHELL, firstExamples, type ByShell } from "./newcomer.ts";

vi.setConfig({ testTimeout: 60_000 });

const folder = scratch();
const bin = join(folder.path, "bin");
let examples: ReadonlyMap<string, string>;

beforeAll(async () => {
  examples = await firstExamples();
  mkdirSync(bin);
  symlinkSync(programFile("rollcall"), join(bin, "rollcall"));
  // One runs the server that is added to it, the other is an agent that ends with its editor.
  write("claude", 'shift 4\nexec "$@" < /dev/null\n');
  write("gemini", "exec cat\n");
});

afterAll(() => folder[Symbol.dispose]());

function write(name: string, script: string): void {
  writeFileSync(join(bin, name), `#!/bin/sh\n${script}`);
  chmodSync(join(bin, name), 0o755);
}

function example(name: ByShell): string {
  return examples.get(name) ?? `${name} has no example`;
}

/** A shell in a home of its own. */
class Shell {
  readonly home: string;
  readonly #env: NodeJS.ProcessEnv;

  constructor(name: string) {
    this.home = join(folder.path, name);
    mkdirSync(this.home);
    const path = `${bin}:${process.env["PATH"] ?? ""}`;
    this.#env = environment(this.home, { PATH: path });
  }

  /** What it says; rejects with that when it fails. */
  async types(line: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
    const options = { cwd: this.home, env: this.#env, timeout: 30_000 };
    const typed = promisify(execFile)("bash", ["-c", line], options);
    typed.child.stdin?.end();
    return typed;
  }

  /** Runs until it is stopped, on free ports; the socket in its home is where it is found. */
  serves(line: string): Running {
    const ports = { ROLLCALL_ADDR: "127.0.0.1:0", ROLLCALL_HTTP_ADDR: "127.0.0.1:0" };
    const env = { ...this.#env, ...ports };
    return new Running("bash", ["-c", `cd '${this.home}' && exec ${line}`], env);
  }
}

test("all of them are tried here", () => {
  expect(BY_SHELL.filter((name) => !examples.has(name))).toEqual([]);
});

test("of up, backup, restore, compact and import", async () => {
  const shell = new Shell("one");
  const up = shell.serves(example("up"));
  await up.says(/is up[^]*only this machine/);
  await shell.types("rollcall agents register web-1 --ttl 1h");
  await shell.types("rollcall export > access.toml");
  expect((await shell.types(example("import"))).stderr).not.toContain("error:");
  await shell.types(example("backup"));
  expect(existsSync(join(shell.home, "rollcall.backup"))).toBe(true);
  up.signal("SIGINT");
  expect(await up.end()).toMatchObject({ code: 0 });
  expect((await shell.types(example("compact"))).stderr).not.toContain("error:");
  const other = new Shell("another");
  await other.types("cp ../one/rollcall.backup .");
  // A person at a terminal is asked.
  await other.types(`${example("restore")} --yes`);
  await using again = other.serves(example("up"));
  await again.says(/is up/);
  expect((await other.types("rollcall ls")).stdout).toContain("web-1");
});

test("of a2a-registry", async () => {
  await using registry = new Shell("registry").serves(example("a2a-registry"));
  // Its port is fixed, as agents expect it there: on a machine where it is taken, that is told.
  await registry.says(/http:\/\/127\.0\.0\.1:8000|8000[^]*in use/);
});

test("of acp run, record and replay", async () => {
  const shell = new Shell("editor");
  await shell.types(example("acp run"));
  await shell.types(example("acp record"));
  expect(existsSync(join(shell.home, "talk.jsonl"))).toBe(true);
  await shell.types(example("acp replay"));
});

test("of mcp and completion", async () => {
  const shell = new Shell("tools");
  await using up = shell.serves(example("up"));
  await up.says(/is up/);
  await shell.types(example("mcp"));
  await shell.types(`${example("completion")}; complete -p rollcall`);
});

describe("of login and of context", () => {
  test("use, rename and remove", async () => {
    const { url, tls, create } = await tlsDaemon();
    const shell = new Shell("far");
    writeFileSync(join(shell.home, "token"), await create("ci", "viewer"), { mode: 0o600 });
    const certificate = `--token-file token --fingerprint ${tls.fingerprint}`;
    const login = example("login").replace("https://box:9090", url);
    expect(login).toContain(url);
    const { stderr } = await shell.types(`${login} ${certificate}`);
    expect(stderr).toContain(`logged in to ${url}`);
    await shell.types(example("context use"));
    await shell.types(example("context remove"));
    await shell.types(`rollcall login ${url} --context box ${certificate}`);
    await shell.types(example("context rename"));
    const contexts = join(shell.home, ".config/rollcall/contexts.json");
    expect(JSON.parse(readFileSync(contexts, "utf8"))).toMatchObject({ current: "team" });
  });
});
