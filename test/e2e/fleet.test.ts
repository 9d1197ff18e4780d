import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { FleetList, FleetRow } from "../../src/wires/api/answers.ts";
import { shellBlock } from "../docs.ts";
import { daemon, environment, run, Running, scratch, start, type Ended } from "./programs.ts";

// Each test starts a dozen programs, on machines that may be busy.
vi.setConfig({ testTimeout: 60_000 });

let folder: ReturnType<typeof scratch>;
let files = "";
let up: Running;
let url = "";

beforeEach(async () => {
  folder = scratch();
  files = join(folder.path, "status");
  await startDaemon();
});

afterEach(async () => {
  await up[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function startDaemon(): Promise<void> {
  const data = join(folder.path, "data");
  ({ up, url } = await daemon("--data-dir", data, "--status-dir", files));
}

async function emit(id: string, ...more: readonly string[]): Promise<void> {
  const who = ["--agent-id", id, "--lifecycle", "running", "--status-dir", files];
  const name = more.includes("--agent-name") ? [] : ["--agent-name", "pi"];
  expect((await run(["emit", ...who, ...name, ...more])).code).toBe(0);
}

function rc(...args: readonly string[]): Promise<Ended> {
  return run(args, { env: { ROLLCALL_URL: url, AGENT_STATUS_DIR: files } });
}

/** What it printed, once it has done what it should. */
async function done(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await rc(...args);
  expect(stderr).not.toContain("error");
  expect(code).toBe(0);
  return stdout.trimEnd();
}

async function fleet(...args: readonly string[]): Promise<FleetList> {
  return JSON.parse(await done(...args, "ls", "--json", "--all")) as FleetList;
}

async function row(id: string): Promise<FleetRow["row"]> {
  return (JSON.parse(await done("explain", id, "--json")) as FleetRow).row;
}

/** Resolves when the fleet shows so many agents in this order. */
async function shows(...ids: readonly string[]): Promise<void> {
  const now = async () => expect((await fleet()).rows.map(({ id }) => id)).toEqual(ids);
  await vi.waitFor(now, { timeout: 10_000 });
}

async function fill(): Promise<void> {
  const ask = ["--task-state", "input-required", "--task-summary", "Shall I drop the table?"];
  await emit("asks-1", "--agent-name", "claude", "--workspace", "/src/shop", ...ask);
  await emit("works-1", "--task-state", "working", "--task-summary", "fix the tests");
  await emit("rests-1", "--agent-name", "codex");
  await shows("asks-1", "works-1", "rests-1");
}

describe("ls", () => {
  test("shows who needs you first, as a table, as JSON and on one line", async () => {
    await fill();
    const [heading, asks, works, rests] = (await done("ls")).split("\n");
    expect(heading).toMatch(/^HEADLINE +AGENT +WORKSPACE +DOING +SINCE +ID$/);
    expect(asks).toMatch(
      /^NEEDS YOU +claude +\/src\/shop +Shall I drop the table\? +(?:now|\d+ s ago) +asks-1$/,
    );
    expect(works).toMatch(/^WORKING +pi +fix the tests +(?:now|\d+ s ago) +works-1$/);
    expect(rests).toMatch(/^IDLE +codex +(?:now|\d+ s ago) +rests-1$/);
    expect(await done("ls", "--needs-me")).not.toContain("works-1");
    expect(await done("ls", "--oneline")).toBe("1 needs you · 1 working · 1 idle");
    expect(await fleet()).toMatchObject({ total: 3, counts: { "NEEDS YOU": 1, GONE: 0 } });
    expect((await rc("ls", "--oneline", "--json")).code).toBe(2);
  });

  test("lives with --watch, as a line for each change, as JSON, and on one line", async () => {
    await emit("a");
    await shows("a");
    const env = { ROLLCALL_URL: url, AGENT_STATUS_DIR: files };
    await using lines = start(["ls", "--watch"], { env });
    await using json = start(["ls", "--watch", "--json"], { env });
    await using line = start(["ls", "--watch", "--oneline"], { env });
    await lines.says(/ is +IDLE +pi/);
    await json.says(/"headline":"IDLE"/);
    await line.says(/^1 idle\n/);
    await emit("a", "--task-state", "auth-required", "--task-summary", "log in");
    await lines.says(/ changed +NEEDS YOU +pi +log in/);
    await json.says(/"headline":"NEEDS YOU"/);
    await line.says(/^1 idle\n1 needs you\n/);
    for (const each of [lines, json, line]) {
      each.signal("SIGINT");
      expect((await each.end()).code).toBe(0);
    }
  });

  test("without a daemon is told from the files, with the same columns, and says so", async () => {
    await fill();
    const before = (await done("ls")).replaceAll(/now|\d+ s ago/g, "").replaceAll(/ +/g, " ");
    up.signal("SIGKILL");
    await up.end();
    const { code, stdout, stderr } = await rc("ls");
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .replaceAll(/now|\d+ s ago/g, "")
        .replaceAll(/ +/g, " "),
    ).toBe(before);
    expect(stderr).toBe(`· no daemon at ${url}: this is from the status files in ${files}\n`);
    expect(await rc("ls", "--oneline")).toMatchObject({
      code: 0,
      stdout: "1 needs you · 1 working · 1 idle\n",
    });
    expect((await rc("explain", "claude")).stdout).toMatch(/^asks +Shall I drop the table\?$/m);
    // What the files cannot know is not made up, and neither are agents of another machine.
    for (const args of [
      ["at", "1m", "ago", "ls"],
      ["inbox"],
      ["timeline", "claude"],
      ["ls", "--url", "http://localhost.invalid:1"],
    ]) {
      expect((await rc(...args)).code).toBe(3);
    }
    await using watching = start(["ls", "--watch", "--oneline"], {
      env: { ROLLCALL_URL: url, AGENT_STATUS_DIR: files },
    });
    await watching.says(/1 needs you · 1 working · 1 idle\n/);
    await emit("asks-1", "--task-state", "working");
    await watching.says(/2 working · 1 idle\n/);
  });
});

test("a process that is killed is gone within two seconds, and ls says which", async () => {
  const child = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  try {
    await emit("a", "--pid", String(child.pid), "--task-state", "working");
    await shows("a");
    expect(await row("a")).toMatchObject({ headline: "WORKING", liveness: { value: "alive" } });
    const killedMs = performance.now();
    child.kill("SIGKILL");
    const answer = async () => {
      const reply = await fetch(`${url}/v1/fleet/a`);
      const { row: now } = (await reply.json()) as FleetRow;
      expect(now).toMatchObject({
        headline: "GONE",
        liveness: { value: "exited", evidence: { rule: `process ${child.pid} is gone` } },
      });
    };
    await vi.waitFor(answer, { timeout: 5_000, interval: 20 });
    expect(performance.now() - killedMs).toBeLessThan(2_500);
    expect(await done("ls")).toMatch(/^GONE +pi +process \d+ is gone +(?:now|\d s ago) +a$/m);
  } finally {
    child.kill("SIGKILL");
  }
});

test("a daemon that is killed comes back with the same fleet, and the same past", async () => {
  await fill();
  const thenMs = Date.now();
  const before = await fleet();
  const asked = await done("inbox", "--json");
  const isDone = async () =>
    expect(await row("works-1")).toMatchObject({ headline: "IDLE", why: "all pass" });
  await emit("works-1", "--task-state", "completed", "--task-summary", "all pass");
  await vi.waitFor(isDone, { timeout: 10_000 });
  const history = await done("timeline", "works-1", "--json");
  up.signal("SIGKILL");
  await up.end();
  // An agent that says the same again while nobody looks asks nothing new.
  const ask = ["--task-state", "input-required", "--task-summary", "Shall I drop the table?"];
  await emit("asks-1", "--agent-name", "claude", "--workspace", "/src/shop", ...ask);
  await startDaemon();
  await isDone();
  // Once a new file is known, so is all that was there before it.
  await emit("new-1");
  const all = ["asks-1", "new-1", "rests-1", "works-1"];
  const isRead = async () =>
    expect((await fleet()).rows.map(({ id }) => id).toSorted()).toEqual(all);
  await vi.waitFor(isRead, { timeout: 10_000 });
  const questions = (text: string) => (JSON.parse(text) as { questions: unknown }).questions;
  expect(questions(await done("inbox", "--json"))).toEqual(questions(asked));
  const at = new Date(thenMs).toISOString();
  const then = await fleet("at", at);
  expect(then.rows).toEqual(before.rows);
  expect(then.atMs).toBe(thenMs);
  const events = (text: string) => (JSON.parse(text) as { events: unknown[] }).events;
  expect(events(await done("timeline", "works-1", "--json"))).toEqual(events(history));
  expect(await done("at", at, "explain", "works-1")).toMatch(/^headline +WORKING$/m);
});

describe("explain, timeline and inbox", () => {
  test("explain shows each value with who said so, by which rule", async () => {
    await fill();
    const text = await done("explain", "asks");
    expect(text).toMatch(/^agent +claude\nid +asks-1\nheadline +NEEDS YOU$/m);
    expect(text).toMatch(/^because +it waits for a person\nasks +Shall I drop the table\?$/m);
    expect(text).toMatch(/^known as +file@[^:]+:asks-1$/m);
    const said = String.raw`file@[^:]+:asks-1 +(?:now|\d+ s ago) +\d+`;
    expect(text).toMatch(new RegExp(`^liveness +alive +its file is fresh +${said}$`, "m"));
    expect(text).toMatch(
      new RegExp(`^blocked on +text +task\\.state is input-required +${said}$`, "m"),
    );
    expect(text).toMatch(/^outcome +none yet$/m);
    expect(await rc("explain", "nobody")).toMatchObject({
      code: 1,
      stderr: "error: no agent nobody in the fleet\n",
    });
  });

  test("an agent is meant by its name only when it is the only one so called", async () => {
    await emit("one");
    await emit("two");
    await vi.waitFor(async () => expect((await fleet()).rows).toHaveLength(2));
    const { code, stderr } = await rc("explain", "pi");
    expect(code).toBe(2);
    expect(stderr).toMatch(
      /^error: 2 agents are called pi: (?:one|two) \(pi\), (?:one|two) \(pi\)/,
    );
  });

  test("timeline tells what happened in words, and goes on with --follow", async () => {
    await fill();
    const env = { ROLLCALL_URL: url };
    await using following = start(["timeline", "claude", "--follow"], { env });
    await following.says(/asks: Shall I drop the table\?/);
    await emit("asks-1", "--agent-name", "claude", "--task-state", "working");
    await following.says(/goes on, was asked: Shall I drop the table\?/);
    await emit("works-1", "--task-state", "failed");
    rmSync(join(files, "asks-1.json"));
    await following.says(/exited: its file is gone/);
    expect(following.stdout).toMatch(
      /^── \d{4}-\d\d-\d\d ──\n\d\d:\d\d:\d\d {2}waits for a person$/m,
    );
    expect(following.stdout).not.toContain("fix the tests");
    following.signal("SIGINT");
    expect((await following.end()).code).toBe(0);
    const whole = (await done("timeline", "asks-1")).split("\n");
    expect(whole).toEqual(following.stdout.trimEnd().split("\n"));
  });

  test("inbox shows what is open, and with --all what became of the rest", async () => {
    await fill();
    const [heading, question] = (await done("inbox")).split("\n");
    expect(heading).toMatch(/^ASKED +AGENT +WORKSPACE +KIND +QUESTION$/);
    expect(question).toMatch(/ +claude +\/src\/shop +text +Shall I drop the table\?$/);
    await emit("asks-1", "--agent-name", "claude", "--task-state", "working");
    await vi.waitFor(async () => expect((await rc("inbox")).stderr).toContain("no agent waits"));
    expect(await done("inbox", "--all")).toMatch(/(?:now|ago) +answered +claude +text +Shall I/);
  });
});

describe("at", () => {
  test.each([
    [["at"], "say when, and what to look at"],
    [["at", "14:03"], "say what to look at: rollcall at 14:03 ls"],
    [["at", "10m", "ago", "tasks"], "tasks cannot be looked at as it was: only ls, explain, inbox"],
    [["at", "noon", "ls"], '--at is "noon": not a time, such as 14:03'],
    [["at", "2999-01-01T00:00:00Z", "ls"], "yet to come"],
    [["at", "10m", "ago", "ls", "--watch"], "--at and --watch exclude each other"],
  ])("%j is refused", async (args, why) => {
    const { code, stderr } = await rc(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(why);
  });

  test("looks back to when nobody was here", async () => {
    await fill();
    const { code, stdout, stderr } = await rc("at", "1 day ago", "ls");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toContain("no agent was here then");
  });
});

test("nothing that an agent says reaches the terminal as more than text", async () => {
  const evil = "\u001b]0;owned\u0007\u001b[2Jevil\u202E\nnext";
  const name = ["--agent-name", evil, "--workspace", `/w/${evil}`];
  await emit("a", ...name, "--task-state", "input-required", "--task-summary", evil);
  await emit("b", ...name, "--task-state", "failed", "--task-summary", evil);
  await vi.waitFor(async () => expect((await fleet()).rows).toHaveLength(2));
  const body = {
    alias: "s:c",
    agentId: "\u202Ec",
    facts: { liveness: { value: "alive", rule: "\u202Erule" }, goal: "two\nlines\u202E" },
  };
  const headers = { "content-type": "application/json" };
  const asked = { method: "POST", headers, body: JSON.stringify(body) };
  expect((await fetch(`${url}/v1/fleet/reports`, asked)).status).toBe(200);
  const heard: string[] = [];
  const agents = ["a", "b", "\u202Ec"];
  const calls = [["ls"], ["inbox"], ["ls", "--oneline"], ["explain", "x\u001b[31m"]];
  calls.push(
    ...agents.flatMap((id) => [
      ["explain", id],
      ["timeline", id],
    ]),
  );
  for (const call of calls) {
    for (const more of call[1] === "--oneline" ? [[]] : [[], ["--json"]]) {
      const { stdout, stderr } = await rc(...call, ...more);
      heard.push(stdout, stderr);
    }
  }
  up.signal("SIGKILL");
  await up.end();
  for (const call of [["ls"], ["explain", "a"], ["ls", "--json"]]) {
    const { stdout, stderr } = await rc(...call);
    heard.push(stdout, stderr);
  }
  const text = heard.join("");
  expect(text).toContain("evil");
  expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\u202E]/u);
});

describe("the page about the API", () => {
  const PAGE = readFileSync(new URL("../../docs/fleet.md", import.meta.url), "utf8");

  async function shell(commands: string): Promise<unknown> {
    const env = environment(folder.path, { ROLLCALL_URL: url });
    await using shown = new Running("/bin/sh", ["-c", commands], env);
    const { code, stdout } = await shown.end();
    expect(code).toBe(0);
    return JSON.parse(stdout);
  }

  /** Its fields and what kind each is, whatever they hold. */
  function shapeOf(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(shapeOf);
    if (typeof value !== "object" || value === null) return value === null ? null : typeof value;
    const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, each]) => [name, shapeOf(each)]));
  }

  test("shows what the API answers, field by field", async () => {
    const goal = ["--goal-summary", "Make checkout fast", "--goal-source", "initial-prompt"];
    const at = ["--goal-updated-at", "2026-06-20T16:00:00Z", "--workspace", "/src/shop"];
    const ask = ["--task-state", "input-required", "--task-summary", "Shall I drop the table?"];
    await emit("claude-7d5d6ca5", "--agent-name", "claude-code", ...goal, ...at, ...ask);
    await shows("claude-7d5d6ca5");
    const shown = JSON.parse(/^```json\n(.*?)^```/ms.exec(PAGE)?.[1] ?? "") as object;
    expect(shapeOf(await shell(shellBlock("fleet", [PAGE])))).toEqual(shapeOf(shown));
  });

  test("shows a report that is taken", async () => {
    expect(await shell(shellBlock("report", [PAGE]))).toEqual({ isNew: true });
    expect(await row("nightly")).toMatchObject({ headline: "WORKING", why: "copying the archive" });
  });
});
