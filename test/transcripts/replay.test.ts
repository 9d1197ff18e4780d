/**
 * The recordings with what can go wrong on the way: events that are lost, come twice, late, or in
 * another order. What no longer comes cannot be known; but once evidence has come that a session
 * rests or works, and nothing later says otherwise, no row says the contrary for more than 5 s.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rowsIn } from "../support/coding-agents/rows.ts";
import { HookStage } from "../support/coding-agents/stage.ts";

const FOLDER = join(import.meta.dirname, "recordings");
const CUE = /^\+(?<seconds>[\d.]+)s +(?<what>\S.*)$/;
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 500;

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rollcall-replay-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  vi.stubEnv("AGENT_STATUS_DIR", join(home, "status"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

interface Cue {
  readonly afterMs: number;
  readonly what: string;
}

/** The turns of a recording, each with all that began its session. */
function turnsOf(name: string): readonly (readonly Cue[])[] {
  const parts = readFileSync(join(FOLDER, name), "utf8").split("\n\n");
  return parts
    .map((part) =>
      part.split("\n").flatMap((line) => {
        const { seconds, what } = CUE.exec(line)?.groups ?? {};
        return what === undefined ? [] : { afterMs: Number(seconds) * 1000, what };
      }),
    )
    .filter((cues) => cues.some(({ what }) => isState(what)));
}

function isState(what: string): boolean {
  return what.startsWith("sessions/") || what.startsWith("app-server");
}

/** The headlines that the last state of the second source allows. */
function allowed(what: string): RegExp {
  if (/"status":"waiting"|waitingOn/.test(what)) return /^NEEDS YOU/;
  if (/"status":"busy"|"active"/.test(what)) return /^WORKING/;
  // At rest it may ask with the last words of its answer, and may have failed.
  return /^(?:IDLE|PROBLEM|NEEDS YOU (?!\w+: ))/;
}

const FATES = ["comes", "comes", "comes", "lost", "twice", "late"] as const;

test.each(readdirSync(FOLDER))("%s, with its hooks lost, doubled and late", (name) => {
  const turns = turnsOf(name);
  const fates = fc.array(fc.constantFrom(...FATES), { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(fc.constantFrom(...turns), fates, (cues, fate) => {
      rmSync(home, { recursive: true, force: true });
      const stage = new HookStage();
      replay(stage, cues, fate);
      const last = cues.findLast(({ what }) => isState(what))?.what ?? "";
      // The hook that ends a session, or begins another one, is evidence too.
      if (/SessionEnd/.test(cues.at(-1)?.what ?? "")) return;
      for (let ms = 0; ms < PATIENCE_MS; ms += LOOK_EVERY_MS) {
        stage.nowMs += LOOK_EVERY_MS;
        stage.look();
      }
      for (const row of rowsIn(join(home, "status"), stage.nowMs).values()) {
        expect(row).toMatch(allowed(last));
      }
    }),
    { numRuns: 60 },
  );
});

test("with one source alone, a turn whose end was lost is a problem in the end", () => {
  const stage = new HookStage();
  for (const event of ["SessionStart", "UserPromptSubmit"]) {
    stage.act(`codex 100 {"session_id":"s","hook_event_name":"${event}","prompt":"go"}`);
  }
  const rows = () => [...rowsIn(join(home, "status"), stage.nowMs).values()];
  expect(rows()).toEqual(["WORKING   go"]);
  stage.nowMs += 11 * 60_000;
  stage.look();
  expect(rows()).toEqual(["PROBLEM   go"]);
});

/** Hooks may be lost; the second source is a state that is there to be read. */
function replay(stage: HookStage, cues: readonly Cue[], fates: readonly string[]): void {
  const late: string[] = [];
  for (const [i, { afterMs, what }] of cues.entries()) {
    stage.nowMs += afterMs;
    const fate = isState(what) ? "comes" : fates[i % fates.length];
    if (fate === "comes" || fate === "twice") stage.act(what);
    if (fate === "twice") stage.act(what);
    if (fate === "late") late.push(what.replace("{", `{"late_ms":${afterMs},`));
    else for (const each of late.splice(0)) stage.act(each);
  }
  for (const each of late) stage.act(each);
}
