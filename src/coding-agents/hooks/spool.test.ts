import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { badgePath, attendanceOf } from "./attendance.ts";
import { complain } from "./complaints.ts";
import { deposit } from "./deposit.ts";
import { newSession, type HookSession } from "./session.ts";
import { Spool } from "./spool.ts";
import { sweepSessions } from "./sweep.ts";
import { hostProcess, rollcallAgentId, tmuxPane } from "../../machine/surroundings.ts";
import { facts, type Said } from "../../../test/support/coding-agents/fixture.ts";

let home = "";
let folder = "";

beforeEach(() => {
  home = fs.mkdtempSync(join(tmpdir(), "rollcall-spool-"));
  folder = join(home, "rollcall/hooks/s");
  vi.stubEnv("XDG_STATE_HOME", home);
});

afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

function spool(publish: (session: HookSession) => void = () => undefined): Spool {
  return new Spool({ folder, initial: newSession("codex", "s"), publish });
}

function leave(...said: readonly Said[]): void {
  for (const fact of facts(said)) deposit(folder, fact);
}

const TURN: readonly Said[] = [
  ["UserPromptSubmit", { prompt: "go" }],
  ["PreToolUse", { tool_name: "Bash" }],
];

const names = () => fs.readdirSync(folder).toSorted();

describe("facts that wait", () => {
  test("are taken in together, published once, and cleared away", () => {
    const published: (string | undefined)[] = [];
    leave(...TURN);
    spool((session) => published.push(session.task?.state)).settle();
    expect(published).toEqual(["working"]);
    expect(names()).toEqual(["state-1.json"]);
    expect(fs.statSync(join(folder, "state-1.json")).mode & 0o777).toBe(0o600);
    expect(fs.statSync(folder).mode & 0o777).toBe(0o700);
  });

  test.each([
    ["an object of nothing", "{}"],
    ["a list", "[]"],
    ["of a newer program", '{ "id": "0-1", "order": 1, "atMs": 1, "event": "Dreamed" }'],
  ])("are taken in beside one that is %s", (...[, text]) => {
    leave(...TURN);
    fs.writeFileSync(join(folder, "fact-0-1.json"), text);
    expect(spool().settle().task?.state).toBe("working");
    expect(names()).toEqual(["state-1.json"]);
  });

  test.each(["{}", "[]", "7", '{ "settled": {}, "recent": [{}] }'])(
    "begin a history anew where that says %s",
    (text) => {
      leave(...TURN);
      fs.writeFileSync(join(folder, "state-3.json"), text);
      expect(spool().settle().prompt).toBe("go");
    },
  );

  test("of which there are none change nothing", () => {
    leave(...TURN);
    spool().settle();
    const session = spool(() => expect.fail("published")).settle();
    expect(session.prompt).toBe("go");
  });

  test("left behind by one who was killed before clearing them away count once", () => {
    leave(...TURN);
    spool().settle();
    leave(...TURN);
    spool(() => expect.fail("published")).settle();
    expect(names()).toEqual(["state-1.json"]);
  });

  test("that nobody can read are thrown away, and the others taken in", () => {
    leave(...TURN);
    fs.writeFileSync(join(folder, "fact-0000000000000000-1.json"), "{");
    expect(spool().settle().task?.state).toBe("working");
    expect(names()).toEqual(["state-1.json"]);
  });
});

describe("several at once", () => {
  test("who publishes while the session goes on does so again: the last word is the latest", () => {
    const published: (string | undefined)[] = [];
    const say = (session: HookSession) => published.push(session.task?.state ?? "idle");
    const [prompt, stop] = facts([["UserPromptSubmit", { prompt: "go" }], "Stop"]);
    deposit(folder, prompt ?? expect.fail());
    let isFirst = true;
    spool((session) => {
      if (isFirst) {
        isFirst = false;
        // Another takes in more and publishes it before the first one writes.
        deposit(folder, stop ?? expect.fail());
        spool(say).settle();
      }
      say(session);
    }).settle();
    expect(published).toEqual(["idle", "working", "idle"]);
  });

  test("old versions go, a few stay for those who are just reading one", () => {
    for (let i = 0; i < 20; i += 1) {
      const [fact] = facts([["PreToolUse", { tool_name: `t${i}` }]]);
      deposit(folder, { ...(fact ?? expect.fail()), id: `f${i}`, order: (i + 1) * 1000 });
      spool().settle();
    }
    expect(names()).toEqual([16, 17, 18, 19, 20].map((version) => `state-${version}.json`));
  });
});

test("a history that cannot be read begins anew, and the session goes on", () => {
  leave(...TURN);
  spool().settle();
  fs.writeFileSync(join(folder, "state-1.json"), "{");
  leave(["UserPromptSubmit", { prompt: "again" }]);
  expect(spool().settle().task?.summary).toBe("again");
});

describe("attendance", () => {
  const badge = (value: object, ageMs: number) => {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(badgePath(folder), JSON.stringify(value));
    const at = (Date.now() - ageMs) / 1000;
    fs.utimesSync(badgePath(folder), at, at);
  };

  test.each([
    ["one that runs", { token: "t", pid: process.pid }, 0, "present"],
    [
      "one that fell silent, whoever has its number",
      { token: "t", pid: process.pid },
      61_000,
      "lost",
    ],
    ["one whose process is gone", { token: "t", pid: 2 ** 22 + 1 }, 0, "lost"],
    ["one that is being started", { token: "t" }, 0, "present"],
    ["one that never came up", { token: "t" }, 11_000, "lost"],
  ])("%s", (...[, value, ageMs, wanted]) => {
    badge(value, ageMs);
    expect(attendanceOf(folder)).toBe(wanted);
  });
});

test("sessions of which nothing was heard for a month are forgotten", () => {
  const old = join(home, "rollcall/hooks/old");
  leave(...TURN);
  fs.mkdirSync(old);
  const month = Date.now() / 1000 - 31 * 24 * 3600;
  fs.utimesSync(old, month, month);
  sweepSessions(Date.now());
  expect(fs.readdirSync(join(home, "rollcall/hooks"))).toEqual(["s"]);
});

test("a session that was left open for a month keeps its place while it has a sidecar", () => {
  leave(...TURN);
  spool().settle();
  fs.writeFileSync(badgePath(folder), JSON.stringify({ token: "t", pid: process.pid }));
  const month = Date.now() / 1000 - 31 * 24 * 3600;
  // A heartbeat changes the badge, and so not the folder.
  for (const name of names()) fs.utimesSync(join(folder, name), month, month);
  fs.utimesSync(badgePath(folder), new Date(), new Date());
  fs.utimesSync(folder, month, month);
  sweepSessions(Date.now());
  expect(spool().present().prompt).toBe("go");
});

test("complaints are for the owner, and never fill the disk", () => {
  const log = join(home, "rollcall/hooks/errors.log");
  for (let i = 0; i < 500; i += 1) complain(new Error(`${"x".repeat(2000)}\n\u001b[31m`));
  expect(fs.statSync(log).size + fs.statSync(`${log}.1`).size).toBeLessThan(140 * 1024);
  expect(fs.statSync(log).mode & 0o777).toBe(0o600);
  expect(fs.readFileSync(log, "utf8")).not.toContain("\u001b");
});

describe("surroundings", () => {
  test("tmux is a pair, and its socket may hold commas", () => {
    expect(tmuxPane({ TMUX: "/a,b,c,12,0", TMUX_PANE: "%7" })).toEqual({
      socket: "/a,b,c",
      pane: "%7",
    });
    expect(tmuxPane({ TMUX: "/a,12,0", TMUX_PANE: "7" })).toBeUndefined();
    expect(tmuxPane({ TMUX_PANE: "%7" })).toBeUndefined();
  });

  test("an id that is none is not taken over", () => {
    expect(rollcallAgentId({ ROLLCALL_AGENT_ID: "a-1" })).toBe("a-1");
    for (const id of ["", "a b", "../x", "x".repeat(200)]) {
      expect(rollcallAgentId({ ROLLCALL_AGENT_ID: id })).toBeUndefined();
    }
  });

  test("the host is the first process above that is no shell", () => {
    expect(hostProcess(process.pid)?.pid).toBe(process.pid);
    expect(hostProcess(1)).toBeUndefined();
  });
});
