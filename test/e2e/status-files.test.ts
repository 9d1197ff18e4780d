import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { environment, programFile, run, scratch, start } from "./programs.ts";

interface Listed {
  readonly agents: readonly { readonly agent_id: string; readonly state: string }[];
  readonly counts: Readonly<Record<string, number>>;
}

function emitArgs(directory: string, id: string, ...more: readonly string[]): readonly string[] {
  const who = ["--agent-id", id, "--agent-name", "pi", "--lifecycle", "running"];
  return ["emit", ...who, ...more, "--status-dir", directory];
}

async function fill(directory: string): Promise<void> {
  await run(emitArgs(directory, "asks", "--task-state", "input-required"));
  await run(emitArgs(directory, "works", "--task-state", "working", "--task-summary", "fix it"));
  await run(emitArgs(directory, "rests"));
}

describe("list", () => {
  test("is a table, one line, or JSON; without a daemon", async () => {
    using folder = scratch();
    await fill(folder.path);
    const list = async (...flags: readonly string[]) =>
      (await run(["list", "--status-dir", folder.path, ...flags])).stdout;
    expect(await list()).toMatch(/\| ▸ fix it +\| works +\| pi +\| ▶ running \| ● working/);
    expect(await list("--oneline")).toBe("1 needs you · 1 working · 1 idle\n");
    expect(await list("--needs-me")).not.toContain("works");
    const { agents, counts } = JSON.parse(await list("--json")) as Listed;
    expect(agents.map(({ agent_id, state }) => `${agent_id} ${state}`)).toEqual([
      "asks input-required",
      "works working",
      "rests idle",
    ]);
    expect(counts).toMatchObject({ "NEEDS YOU": 1, WORKING: 1, IDLE: 1, GONE: 0 });
  });

  test("says of each file what `ls` says of it", async () => {
    using home = scratch();
    const folder = join(home.path, "state", "agent-status");
    const options = { home: home.path, env: { XDG_STATE_HOME: join(home.path, "state") } };
    const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
    const { pid } = spawnSync("true");
    const dead = ["--pid", String(pid)];
    // The first process was there before any of these files.
    const alive = ["--pid", "1"];
    const silent = ["--updated-at", ago(2)];
    const working = ["--task-state", "working"];
    await run(emitArgs(folder, "dead", ...working, ...dead));
    await run(emitArgs(folder, "dead-asking", "--task-state", "input-required", ...dead));
    await run(emitArgs(folder, "at-work", ...working, ...alive));
    await run(emitArgs(folder, "stuck", ...working, ...alive, "--last-activity-at", ago(60)));
    await run(emitArgs(folder, "quiet", ...silent, ...alive));
    await run(emitArgs(folder, "silent", ...working, ...silent));
    await run(emitArgs(folder, "asking", "--task-state", "input-required", ...silent));
    const daemonless = ["--url", "http://127.0.0.1:9", "--all", "--json"];
    const shown = await run(["ls", ...daemonless], options);
    const { rows } = JSON.parse(shown.stdout) as { rows: { id: string; headline: string }[] };
    const listed = await run(["list", "--json"], options);
    const { agents } = JSON.parse(listed.stdout) as {
      agents: { agent_id: string; headline: string }[];
    };
    const said = Object.fromEntries(rows.map(({ id, headline }) => [id, headline]));
    expect(said).toEqual({
      dead: "GONE",
      "dead-asking": "GONE",
      "at-work": "WORKING",
      stuck: "PROBLEM",
      quiet: "IDLE",
      silent: "PROBLEM",
      asking: "PROBLEM",
    });
    const heard = agents.map(({ agent_id, headline }) => [agent_id, headline]);
    expect(Object.fromEntries(heard)).toEqual(said);
    expect((await run(["list", "--oneline"], options)).stdout).toBe(
      "3 problems · 1 working · 1 idle · 2 gone\n",
    );
  });

  test("finds the directory by itself, and is empty for a prompt without agents", async () => {
    using home = scratch();
    const options = { home: home.path, env: { XDG_STATE_HOME: join(home.path, "state") } };
    expect(await run(["list", "--oneline"], options)).toMatchObject({ code: 0, stdout: "\n" });
    const emit = ["emit", "--agent-id", "a", "--agent-name", "pi", "--lifecycle", "running"];
    const { stdout } = await run(emit, { ...options, program: "agent-status" });
    expect(stdout).toBe(`${join(home.path, "state", "agent-status", "a.json")}\n`);
    expect((await run(["list", "--oneline"], options)).stdout).toBe("1 idle\n");
  });

  test("in a directory full of traps warns once for each, and lists the others", async () => {
    using folder = scratch();
    const at = (name: string) => join(folder.path, name);
    await run(emitArgs(folder.path, "works", "--task-state", "working"));
    await run(emitArgs(folder.path, "early", "--updated-at", "2099-01-01T00:00:00Z"));
    const evil = "\u001b]0;owned\u0007\u001b[2Jevil";
    await run(emitArgs(folder.path, evil, "--task-summary", evil, "--goal-summary", evil));
    fs.copyFileSync(at("works.json"), at("copy.json"));
    fs.writeFileSync(at("bytes.json"), Buffer.from([0xff, 0xfe]));
    fs.writeFileSync(at("text.json"), "hello");
    fs.writeFileSync(at("other.json"), `{"schema_version": ${JSON.stringify(evil)}}`);
    fs.writeFileSync(at("huge.json"), "");
    fs.truncateSync(at("huge.json"), 100 * 1024 * 1024);
    fs.symlinkSync("works.json", at("link.json"));
    fs.mkdirSync(at("folder.json"));
    expect(spawnSync("mkfifo", [at("pipe.json")]).status).toBe(0);
    for (const program of ["rollcall", "agent-status"]) {
      const listed = await run(["list", "--status-dir", folder.path], { program });
      expect(listed.code).toBe(0);
      expect(listed.stdout).toContain("● working");
      const traps = ["bytes", "text", "other", "huge", "link", "folder", "pipe", "early", "copy"];
      const lines = listed.stderr.trim().split("\n");
      expect(lines).toHaveLength(traps.length);
      for (const trap of traps) {
        expect(lines.filter((line) => line.includes(`/${trap}.json`))).toHaveLength(1);
      }
      const text = (listed.stdout + listed.stderr).replaceAll("\n", "");
      expect(text).not.toMatch(/\p{Cc}/u);
    }
  });
});

describe("watch", () => {
  test("tells programs of every change, and ends well when interrupted", async () => {
    using folder = scratch();
    await using watching = start(["watch", "--oneline", "--status-dir", folder.path]);
    await watching.says(/^\n/);
    await run(emitArgs(folder.path, "a", "--task-state", "working"));
    await watching.says(/1 working\n/);
    await run(emitArgs(folder.path, "a", "--task-state", "auth-required"));
    await watching.says(/1 needs you\n/);
    fs.rmSync(join(folder.path, "a.json"));
    await vi.waitFor(() => expect(watching.stdout.endsWith("needs you\n\n")).toBe(true));
    watching.signal("SIGINT");
    expect(await watching.end()).toMatchObject({ code: 0, stderr: "" });
  });

  test("with --json gives whole lists, one a line", async () => {
    using folder = scratch();
    await using watching = start(["watch", "--json", "--needs-me", "--status-dir", folder.path]);
    await run(emitArgs(folder.path, "a", "--task-state", "input-required"));
    await watching.says(/"agent_id":"a"/);
    const lines = watching.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Listed);
    expect(lines.at(-1)?.agents).toMatchObject([{ agent_id: "a", state: "input-required" }]);
  });

  test("notices that an agent fell silent, though no file changed", async () => {
    using folder = scratch();
    const args = ["watch", "--oneline", "--stale-after", "1", "--interval", "0.1"];
    await run(emitArgs(folder.path, "a", "--task-state", "working"));
    await using watching = start([...args, "--status-dir", folder.path]);
    await watching.says(/1 problem\n/);
  });
});

describe("single files", () => {
  test("get prints one, whole and harmless; what is not there ends with 1", async () => {
    using folder = scratch();
    await run(emitArgs(folder.path, "a", "--task-summary", "\u001b[31mred\u009b"));
    const get = (id: string) => run(["get", id, "--status-dir", folder.path]);
    const { code, stdout } = await get("a");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ task: { summary: "\u001b[31mred\u009b" } });
    expect(stdout).toContain(String.raw`"\u001b[31mred\u009b"`);
    const missing = { code: 1, stderr: `error: no agent b in ${folder.path}\n` };
    expect(await get("b")).toMatchObject(missing);
    fs.symlinkSync("a.json", join(folder.path, "b.json"));
    const invalid = { code: 1, stderr: `invalid status file: ${join(folder.path, "b.json")}\n` };
    expect(await get("b")).toMatchObject(invalid);
  });

  test("validate checks a file or standard input, and prints the schema", async () => {
    using folder = scratch();
    await run(emitArgs(folder.path, "a"));
    const file = join(folder.path, "a.json");
    expect(await run(["validate", file])).toMatchObject({ code: 0, stdout: "valid\n" });
    for (const path of ["-", "/dev/stdin"]) {
      const said = spawnSync(process.execPath, [programFile("rollcall"), "validate", path], {
        input: '{"agent_id": ""}',
        env: environment(folder.path),
        encoding: "utf8",
      });
      expect(said.status).toBe(1);
      expect(said.stderr.split("\n").slice(0, 2)).toEqual([
        "missing required field: schema_version",
        "field must be non-empty string: agent_id",
      ]);
    }
    const schema = JSON.parse((await run(["validate", "--schema"])).stdout) as object;
    expect(schema).toMatchObject({ title: "agent-status/v1alpha1", type: "object" });
    expect(await run(["validate"])).toMatchObject({ code: 2 });
    expect(await run(["validate", join(folder.path, "none")])).toMatchObject({ code: 1 });
  });

  test("prune removes what is old, and prints it", async () => {
    using folder = scratch();
    await run(emitArgs(folder.path, "old", "--updated-at", "2020-01-01T00:00:00Z"));
    await run(emitArgs(folder.path, "new"));
    const { stdout } = await run(["prune", "--status-dir", folder.path]);
    expect(stdout).toBe(`${join(folder.path, "old.json")}\n`);
    expect(fs.readdirSync(folder.path)).toEqual(["new.json"]);
  });

  test("a directory that cannot be written is one line, and no stack", async () => {
    using folder = scratch();
    const file = join(folder.path, "file");
    fs.writeFileSync(file, "");
    const args = emitArgs(join(file, "below"), "a");
    const theirs = await run(args, { program: "agent-status" });
    expect(theirs).toMatchObject({ code: 1, stdout: "" });
    expect(theirs.stderr).toMatch(/^cannot write .*below\/a\.json: ENOTDIR.*\n$/);
    expect((await run(args)).stderr).toMatch(/^error: cannot write /);
  });
});
