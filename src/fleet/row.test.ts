import { describe, expect, test } from "vitest";
import type { Facts, Liveness, Report } from "../core/reports.ts";
import { countsAt } from "./census.ts";
import { byRowPlace, isLongSilent, rowPlaceOf } from "./headline.ts";
import { rowOf, type Row } from "./row.ts";
import { DEFAULT_PATIENCE } from "./stuck.ts";
import { HOUR, MINUTE } from "../core/units.ts";

const NOW = 1_781_971_445_000;
const DAY = 24 * HOUR;

function liveness(value: Liveness) {
  return { liveness: { value, rule: `says ${value}` } };
}

const ALIVE = liveness("alive");
const WORKING: Facts = { ...ALIVE, activity: { value: "working", rule: "task.state" } };
const IDLE: Facts = { ...ALIVE, activity: { value: "idle", rule: "no task" } };

function report(alias: string, facts: Facts, reportedAtMs = NOW): Report {
  return { alias, agentId: "a", links: [], order: reportedAtMs, reportedAtMs, facts };
}

function row(...sources: readonly Report[]): Row {
  return rowOf({ id: "a", sources }, { nowMs: NOW, patience: DEFAULT_PATIENCE });
}

function asking(text: string, sinceMs = NOW): Facts {
  return { ...WORKING, question: { value: { kind: "permission", text, sinceMs }, rule: "asks" } };
}

describe("a row", () => {
  test("believes the closest source that is up to date about what an agent does", () => {
    const hook = {
      ...ALIVE,
      activity: { value: "writing", rule: "Edit", message: "main.ts" },
    } as const;
    const { activity } = row(report("keeper:1", IDLE), report("file@box:1", hook, NOW - MINUTE));
    expect(activity).toMatchObject({ value: "writing", message: "main.ts" });
    expect(activity.evidence).toEqual({
      wire: "file",
      alias: "file@box:1",
      rule: "Edit",
      reportedAtMs: NOW - MINUTE,
      order: NOW - MINUTE,
    });
    const old = { ...hook, ...liveness("stale") };
    expect(row(report("keeper:1", IDLE), report("file@box:1", old)).activity.value).toBe("idle");
  });

  test("lives while any source sees it live", () => {
    const sources = [report("file@box:1", liveness("exited")), report("keeper:1", IDLE, NOW - 1)];
    expect(row(...sources).liveness).toMatchObject({
      value: "alive",
      evidence: { wire: "keeper" },
    });
  });

  test.each(["keeper:1", "file@box:1"])("of %s is not told by one that named it first", (alias) => {
    const evil = { ...asking("give me your password", 1), name: "EVIL", goal: "evil" };
    const squatter = { ...report("acp:s1", evil), owner: "token:bob" };
    const own = report(alias, { ...liveness("exited"), name: "nightly" });
    expect(row(squatter, own)).toMatchObject({
      name: "nightly",
      goal: null,
      blockedOn: null,
      liveness: { value: "exited" },
      aliases: ["acp:s1", alias],
    });
    expect(row({ ...squatter, isOperators: true }, own)).toMatchObject({ goal: "evil" });
  });

  test("of an agent is not told by another owner's that took the agent's id", () => {
    const registered = { ...report("keeper:a", { ...IDLE, name: "nightly" }), owner: "token:ann" };
    const other = {
      ...report("keeper:1", { ...WORKING, name: "EVIL" }, NOW + 1),
      owner: "token:b",
    };
    expect(row(other, registered)).toMatchObject({ name: "nightly", headline: "IDLE" });
  });

  test("of an agent of the directory is not told by another owner's that took its URL", () => {
    const url = "http://echo.example/a2a";
    const entry = { ...report(`a2a:${url}`, { ...IDLE, name: "Echo" }), owner: "token:ann" };
    const squatter = {
      ...report("script:evil", { ...asking("paste your key"), name: "EVIL" }),
      owner: "token:bob",
    };
    const sources = [squatter, { ...entry, registeredAtMs: NOW }];
    const made = rowOf({ id: url, sources }, { nowMs: NOW, patience: DEFAULT_PATIENCE });
    expect(made).toMatchObject({ name: "Echo", headline: "IDLE", blockedOn: null });
  });

  test("that several owners' agents name is told by the one that was there first", () => {
    const first = { ...report("keeper:1", { ...IDLE, name: "nightly" }), owner: "token:ann" };
    const later = {
      ...report("keeper:2", { ...WORKING, name: "EVIL" }, NOW + 1),
      owner: "token:b",
    };
    const sources = [
      { ...later, registeredAtMs: NOW },
      { ...first, registeredAtMs: NOW - 1 },
    ];
    expect(row(...sources)).toMatchObject({ name: "nightly", headline: "IDLE" });
  });

  test("is told by an agent of another owner's too, where the daemon's own user links it", () => {
    const file = { ...report("file@box:1", liveness("stale")), links: ["keeper:1"] };
    const linked = { ...report("keeper:1", WORKING), owner: "token:ann" };
    expect(row(file, linked).headline).toBe("WORKING");
    expect(row({ ...file, links: [] }, linked).liveness.value).toBe("stale");
  });

  test("is called as the daemon's own user says, whoever came first", () => {
    const squatter = { ...report("acp:s1", { ...IDLE, name: "EVIL" }), owner: "token:bob" };
    const own = report("script@box:nightly", { ...IDLE, name: "nightly" });
    expect(row(squatter, own).name).toBe("nightly");
  });

  test("of which nobody sees life is what was said last", () => {
    const stale = report("file@box:1", liveness("stale"), NOW - 1);
    const dead = report("keeper:1", liveness("dead"), NOW);
    expect(row(stale, dead).liveness.value).toBe("dead");
    expect(row(dead, report("file@box:1", liveness("unknown"))).liveness.value).toBe("dead");
  });

  test("shows the question that has waited longest", () => {
    const sources = [report("acp:1", asking("new", NOW - 1)), report("file@b:1", asking("old", 7))];
    expect(row(...sources).blockedOn?.value.text).toBe("old");
  });

  test("shows one question in the words of the source that is closest to the agent", () => {
    // The file knows whole seconds only, so there it seems to have waited a little longer.
    const sources = [
      report("file@b:1", asking("Write a", NOW - 1_800)),
      report("acp:1", asking("Write a", NOW - 1_000)),
    ];
    expect(row(...sources).blockedOn).toMatchObject({ evidence: { wire: "acp" } });
  });

  test("of which nothing is known says so", () => {
    const { activity, outcome, blockedOn, workspace } = row(report("a2a:u", liveness("unknown")));
    expect(activity).toMatchObject({ value: "unknown", evidence: { rule: "no source told it" } });
    expect([outcome, blockedOn, workspace]).toEqual([null, null, null]);
  });
});

describe("the headline", () => {
  const failed = { value: "failed", rule: "task.state", text: "tests fail", atMs: NOW } as const;

  test.each([
    ["NEEDS YOU", "asks", asking("may I?"), "may I?"],
    ["GONE", "asked and left", { ...asking("may I?"), ...liveness("exited") }, "says exited"],
    ["PROBLEM", "asked and fell silent", { ...asking("x"), ...liveness("stale") }, "· x"],
    ["PROBLEM", "does not answer", { ...WORKING, ...liveness("unreachable") }, "does not answer"],
    ["PROBLEM", "fell silent at work", { ...WORKING, ...liveness("stale") }, "silent since"],
    ["IDLE", "fell silent at rest", { ...IDLE, ...liveness("stale") }, "silent since"],
    ["PROBLEM", "failed", { ...IDLE, outcome: failed }, "tests fail"],
    ["WORKING", "failed and tries again", { ...WORKING, outcome: failed }, "working"],
    ["PROBLEM", "died", liveness("dead"), "says dead"],
    ["WORKING", "works", WORKING, "working"],
    ["IDLE", "rests", IDLE, ""],
    ["IDLE", "is there", ALIVE, ""],
  ] as const)("is %s of one that %s", (...given) => {
    const [headline, , facts, why] = given;
    const judged = row(report("file@box:1", facts));
    expect(judged.headline).toBe(headline);
    expect(judged.why).toContain(why);
  });

  test("of silence says since when, and what it was at", () => {
    const atMs = new Date(2026, 5, 20, 14, 3, 9).getTime();
    const silent = (facts: Facts, nowMs: number) =>
      rowOf(
        { id: "a", sources: [report("file@box:1", { ...facts, ...liveness("stale") }, atMs)] },
        { nowMs, patience: DEFAULT_PATIENCE },
      ).why;
    expect(silent(WORKING, atMs + 1)).toBe("silent since 14:03 · working");
    expect(silent(asking("rm?"), atMs + 1)).toBe("silent since 14:03 · rm?");
    expect(silent(IDLE, atMs + 1)).toBe("silent since 14:03");
    expect(silent(IDLE, atMs + DAY)).toBe("silent since 2026-06-20 14:03");
  });

  // "A stale file is not definitive proof that the writer is gone permanently."
  test("of silence is never that it is gone; at rest it is folded away after a day", () => {
    const silent = (facts: Facts, agoMs: number) =>
      row(report("file@box:1", { ...facts, ...liveness("stale") }, NOW - agoMs));
    for (const facts of [WORKING, IDLE, asking("x")]) {
      expect(silent(facts, 100 * DAY).headline).not.toBe("GONE");
    }
    const folded = (each: Row) => isLongSilent(each, NOW);
    expect([DAY, DAY + 1].map((agoMs) => folded(silent(IDLE, agoMs)))).toEqual([false, true]);
    expect(folded(silent(WORKING, 100 * DAY))).toBe(false);
    expect(countsAt([silent(IDLE, DAY), silent(IDLE, DAY + 1)], NOW).IDLE).toBe(1);
  });

  test.each([
    [
      "reading",
      "Reading codebase structure...",
      "Step 2/5: Finding",
      "reading · Step 2/5: Finding",
    ],
    ["writing", "main.ts", undefined, "writing · main.ts"],
    ["thinking", undefined, undefined, "thinking"],
    ["working", "refactor tests", undefined, "refactor tests"],
  ] as const)("of work says the word and the task: %s, %j, %j", (...given) => {
    const [value, message, task, why] = given;
    const about = { ...(message && { message }), ...(task && { task }) };
    const facts: Facts = { ...ALIVE, activity: { value, rule: "says so", ...about } };
    expect(row(report("acp:1", facts)).why).toBe(why);
  });

  test("of a death is a problem only while that is news", () => {
    expect(row(report("keeper:1", liveness("dead"), NOW - 16 * MINUTE)).headline).toBe("GONE");
  });

  test("of one that says it works while nothing happens is a problem", () => {
    const since = (ms: number) => ({ ...WORKING, lastActivityAtMs: NOW - ms });
    const quiet = report("file@box:1", since(11 * MINUTE), NOW - 12 * MINUTE);
    expect(row(quiet)).toMatchObject({ headline: "PROBLEM", stuckSinceMs: NOW - 11 * MINUTE });
    const busy = report("file@box:1", since(9 * MINUTE), NOW - 12 * MINUTE);
    expect(row(busy)).toMatchObject({ headline: "WORKING", stuckSinceMs: null });
    const repeated = { ...report("acp:1", since(11 * MINUTE), NOW - 1), ttlMs: MINUTE };
    expect(row(repeated)).toMatchObject({ stuckSinceMs: NOW - 11 * MINUTE });
    const waiting: Facts = { ...ALIVE, activity: { value: "waiting", rule: "a build" } };
    const builds = report("file@box:1", waiting, NOW - 20 * MINUTE);
    expect(row(builds).headline).toBe("WORKING");
  });

  test.each([
    ["asks", asking("?", NOW - 7), NOW - 7],
    ["fell silent at work", { ...WORKING, ...liveness("stale") }, NOW - 1],
    ["is gone", { ...asking("?", NOW - 7), ...liveness("exited") }, NOW - 1],
    ["does not answer", { ...WORKING, ...liveness("unreachable") }, NOW - 1],
    ["works", { ...WORKING, lastActivityAtMs: NOW - 2 }, NOW - 5],
    ["rests", { ...IDLE, lastActivityAtMs: NOW - 6 }, NOW - 5],
    ["failed", { ...IDLE, outcome: { ...failed, atMs: NOW - 6 } }, NOW - 6],
    ["is stuck", { ...WORKING, lastActivityAtMs: 7 }, 7],
  ] as const)("says since when it is so: of one that %s", (_what, facts, sinceMs) => {
    const told = { ...report("file@box:1", facts, NOW - 1), sinceMs: NOW - 5 };
    expect(row(told).sinceMs).toBe(sinceMs);
  });

  test("puts first what needs a person, the one that has waited longest before others", () => {
    const named = (id: string, facts: Facts) =>
      rowOf(
        { id, sources: [report("file@b:1", facts)] },
        { nowMs: NOW, patience: DEFAULT_PATIENCE },
      );
    const rows = [
      named("gone", liveness("exited")),
      named("idle", IDLE),
      named("asks now", asking("?", NOW)),
      named("busy", WORKING),
      named("asked before", asking("?", NOW - MINUTE)),
      named("lost", liveness("unreachable")),
    ];
    const placed = rows.map((each) => ({ id: each.id, place: rowPlaceOf(each, NOW) }));
    expect(placed.toSorted(byRowPlace).map(({ id }) => id)).toEqual([
      "asked before",
      "asks now",
      "lost",
      "busy",
      "idle",
      "gone",
    ]);
  });
});
