import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { readStatus } from "../../wires/files/read.ts";
import { badgePath, claim, readBadge } from "./attendance.ts";
import { deposit } from "./deposit.ts";
import { sessionFolder } from "../../machine/places.ts";
import type { Presence } from "./presence.ts";
import type { Fact, Seat } from "./fact.ts";
import { Sidecar } from "./sidecar.ts";
import { facts, type Said } from "../../../test/support/coding-agents/fixture.ts";

const START_MS = 1_700_000_000_000;

let home = "";
let folder = "";
let nowMs = START_MS;
/** The clock that never jumps goes on. */
let setBackMs = 0;
let isHostThere = true;
const dead = new Set<number>();

beforeEach(() => {
  home = fs.mkdtempSync(join(tmpdir(), "rollcall-sidecar-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  vi.stubEnv("AGENT_STATUS_DIR", join(home, "status"));
  folder = sessionFolder("codex-s");
  [nowMs, setBackMs, isHostThere] = [START_MS, 0, true];
  dead.clear();
  hear("SessionStart");
  claim(folder, { token: "mine" });
});

afterEach(() => fs.rmSync(home, { recursive: true, force: true }));

let heard = 0;

/** Hooks leave these, of a host whose process is known. */
function hear(...said: readonly Said[]): void {
  leave(facts(said));
}

/** They begin now, not when all of it began. */
function hearNow(...said: readonly Said[]): void {
  leave(facts(said).map((fact) => ({ ...fact, atMs: nowMs })));
}

function leave(left: readonly Fact[]): void {
  for (const fact of left) {
    heard += 1;
    const order = heard * 1000;
    const process = { pid: 7, start: "1" };
    deposit(folder, { ...fact, id: String(order).padStart(16, "0"), order, process });
  }
}

function sidecar(token = "mine"): Sidecar {
  const runs = () => isHostThere;
  return new Sidecar({ host: "codex", sessionId: "s", token, now: () => nowMs, runs });
}

function status() {
  const reading = readStatus(join(home, "status/codex-s.json"), { nowMs });
  return reading.kind === "status" ? reading.status : undefined;
}

describe("a sidecar", () => {
  test("takes in what hooks left, and says which process it is", () => {
    hear(["UserPromptSubmit", { prompt: "go" }]);
    expect(sidecar().look()).toBe(true);
    expect(status()?.task).toMatchObject({ state: "working", summary: "go" });
    expect(readBadge(folder)).toEqual({ token: "mine", pid: process.pid });
  });

  // "Write … a heartbeat every 15 to 30 seconds"
  test("shows every 30 s that the session lives, though nothing happens", () => {
    const attending = sidecar();
    const seen = new Set<string | undefined>();
    for (let second = 0; second <= 60; second += 2) {
      nowMs = START_MS + second * 1000;
      attending.look();
      seen.add(status()?.runtime.updated_at.slice(-3));
    }
    expect([...seen]).toEqual(["20Z", "30Z", "00Z"]);
    expect(status()?.runtime.last_activity_at).toBe("2023-11-14T22:13:20Z");
  });

  test("beats when all the others do, whenever it began", () => {
    const beats = [0, 7_000, 29_000].map((laterMs) => {
      nowMs = START_MS + laterMs;
      const attending = sidecar();
      attending.look();
      nowMs += attending.pauseMs;
      expect(attending.isQuiet).toBe(false);
      return nowMs % 30_000;
    });
    expect(beats).toEqual([0, 0, 0]);
  });

  test("goes on to beat when the clock was put back", () => {
    const attending = sidecar();
    attending.look();
    nowMs -= 600_000;
    expect(attending.isQuiet).toBe(false);
    attending.look();
    expect(status()?.runtime).toMatchObject({
      updated_at: "2023-11-14T22:03:20Z",
      last_activity_at: "2023-11-14T22:03:20Z",
    });
  });

  test("ends the session when its host is gone, and leaves", () => {
    const attending = sidecar();
    expect(attending.look()).toBe(true);
    isHostThere = false;
    expect(attending.look()).toBe(false);
    expect(status()).toBeUndefined();
    expect(readBadge(folder)).toBeUndefined();
  });

  test("leaves when the session ended", () => {
    hear("SessionEnd");
    expect(sidecar().look()).toBe(false);
    expect(fs.existsSync(badgePath(folder))).toBe(false);
  });

  test("leaves when another has its place, and touches nothing", () => {
    expect(sidecar("another").look()).toBe(false);
    expect(readBadge(folder)?.token).toBe("mine");
    expect(status()).toBeUndefined();
  });

  test("leaves when the session's folder is gone", () => {
    const attending = sidecar();
    fs.rmSync(folder, { recursive: true });
    expect(attending.look()).toBe(false);
  });

  test("that rested for long still notices a fact, and that another has its place", () => {
    const attending = sidecar();
    const longAgoMs = Date.now();
    vi.spyOn(Date, "now").mockReturnValue(longAgoMs + 60_000);
    for (const laterMs of [0, 30_000, 60_000]) {
      nowMs = START_MS + laterMs;
      expect(attending.look()).toBe(true);
    }
    hear(["UserPromptSubmit", { prompt: "go" }]);
    attending.look();
    expect(status()?.task).toMatchObject({ state: "working", summary: "go" });
    for (const laterMs of [90_000, 120_000]) {
      nowMs = START_MS + laterMs;
      expect(attending.look()).toBe(true);
    }
    fs.rmSync(badgePath(folder));
    claim(folder, { token: "another" });
    expect(attending.look()).toBe(false);
    expect(readBadge(folder)?.token).toBe("another");
  });

  test("makes a status file anew that somebody took away", () => {
    const attending = sidecar();
    attending.look();
    fs.rmSync(join(home, "status"), { recursive: true });
    nowMs += 30_000;
    attending.look();
    expect(status()).toBeDefined();
  });

  test("whose host nobody knows goes on for a day", () => {
    for (const name of fs.readdirSync(folder)) {
      if (name.startsWith("fact-")) fs.rmSync(join(folder, name));
    }
    const [fact] = facts(["SessionStart"]);
    deposit(folder, fact ?? expect.fail());
    isHostThere = false;
    const attending = sidecar();
    nowMs += 23 * 3_600_000;
    expect(attending.look()).toBe(true);
    nowMs += 3_601_000;
    expect(attending.look()).toBe(false);
  });
});

describe("a second source", () => {
  let presence: Presence | undefined;
  let seating: { readonly seat?: Seat } | undefined;
  let isLive = true;

  beforeEach(() => ([presence, seating, isLive] = [undefined, undefined, true]));

  function witnessed(): Sidecar {
    const witness = {
      get isLive() {
        return isLive;
      },
      presence: () => presence,
      seating: () => seating,
      close: () => undefined,
    };
    const [now, nowOrder] = [() => nowMs, () => (nowMs + setBackMs - START_MS + heard) * 1000];
    const runs = ({ pid }: { readonly pid: number }) => isHostThere && !dead.has(pid);
    return new Sidecar({
      host: "codex",
      sessionId: "s",
      token: "mine",
      now,
      nowOrder,
      runs,
      witness,
    });
  }

  const says = (state: Presence["state"], sinceMs = nowMs) => (presence = { state, sinceMs });
  const state = () => status()?.task?.state;

  test("that has the later word is believed at once", () => {
    hear("UserPromptSubmit");
    nowMs += 1000;
    const attending = witnessed();
    says("idle");
    attending.look();
    expect(state()).toBeUndefined();
  });

  test("that has the earlier word is believed once it stands", () => {
    says("idle", START_MS - 1000);
    hear("UserPromptSubmit");
    const attending = witnessed();
    attending.look();
    expect(state()).toBe("working");
    expect(attending.pauseMs).toBeGreaterThan(1900);
    nowMs += 2100;
    expect(attending.isQuiet).toBe(false);
    attending.look();
    expect(state()).toBeUndefined();
    expect(attending.isQuiet).toBe(true);
  });

  test.each([
    ["before any hook after that", []],
    ["after another prompt", ["UserPromptSubmit"]],
  ] as const)("is believed where the clock was set back, %s", (...[, said]) => {
    hear("UserPromptSubmit");
    says("busy");
    const attending = witnessed();
    attending.look();
    expect(state()).toBe("working");
    setBackMs = 3_600_000;
    nowMs -= setBackMs;
    hearNow(...said);
    attending.look();
    nowMs += 60_000;
    says("idle");
    attending.look();
    nowMs += 2100;
    attending.look();
    expect(state()).toBeUndefined();
  });

  test("has its time from when a hook was heard, though that began long before", () => {
    says("busy", START_MS - 1000);
    hear("UserPromptSubmit");
    const attending = witnessed();
    attending.look();
    nowMs += 5000;
    hear("UserPromptSubmit", ["Stop", { last_assistant_message: "Shall I go on?" }]);
    attending.look();
    expect(state()).toBe("input-required");
    nowMs += 2100;
    attending.look();
    expect(state()).toBe("working");
    // Another program's hook ran at the end of the turn: that was all.
    nowMs += 3000;
    says("idle");
    attending.look();
    expect(status()?.task).toMatchObject({ state: "input-required", summary: "Shall I go on?" });
    expect(attending.isQuiet).toBe(true);
  });

  test("is believed about a dialog that never opened, however often other tools are called", () => {
    says("busy", START_MS - 1000);
    hear("UserPromptSubmit");
    seating = {};
    const attending = witnessed();
    attending.look();
    nowMs += 1000;
    const call = (command: string) => ({ tool_name: "Bash", tool_input: { command } });
    hearNow(["PermissionRequest", call("one")]);
    attending.look();
    expect(state()).toBe("input-required");
    for (let second = 1; second <= 3; second += 1) {
      nowMs += 1000;
      hearNow(["PreToolUse", call(`other ${second}`)]);
      attending.look();
      expect(state()).toBe(second < 2 ? "input-required" : "working");
    }
  });

  test("is asked every 2 s only where it does not speak by itself", () => {
    const attending = witnessed();
    attending.look();
    expect(attending.pauseMs).toBe(10_000);
    nowMs += 4_000;
    expect(attending.pauseMs).toBe(6_000);
    isLive = false;
    expect(attending.pauseMs).toBe(2_000);
  });

  test("that knows of a dialog waits for the hook that knows what is asked", () => {
    hear("UserPromptSubmit");
    nowMs += 1000;
    says("waiting");
    const attending = witnessed();
    attending.look();
    expect(state()).toBe("working");
    nowMs += 800;
    attending.look();
    expect(state()).toBe("input-required");
  });

  test("that tells the terminal gives its process and its pane to the session", () => {
    const tmux = { socket: "/run/tmux", pane: "%7" };
    seating = { seat: { process: { pid: 9, start: "2" }, tmux } };
    witnessed().look();
    expect(status()?.runtime.pid).toBe(9);
    expect(status()?.x_meta?.["tmux_pane"]).toBe("%7");
  });

  test("lets a turn go on that nobody sits in front of any more, and ends the session then", () => {
    hear("UserPromptSubmit");
    seating = { seat: { process: { pid: 9, start: "2" } } };
    const attending = witnessed();
    attending.look();
    dead.add(9);
    nowMs += 1000;
    expect(attending.look()).toBe(true);
    says("idle");
    expect(attending.look()).toBe(false);
    expect(status()).toBeUndefined();
  });

  test("ends the session with the server that runs it, though its terminal is still there", () => {
    hear("UserPromptSubmit");
    seating = { seat: { process: { pid: 9, start: "2" } } };
    const attending = witnessed();
    attending.look();
    dead.add(7);
    nowMs += 1000;
    expect(attending.look()).toBe(false);
    expect(status()).toBeUndefined();
  });
});
