/**
 * The recordings with what can go wrong on the way: hooks that are lost, come twice, late, or in
 * another order, up to any moment. What no longer comes cannot be known; but once evidence has come
 * that a session works, rests or is gone, no row says the contrary for more than 5 s. Evidence is a
 * hook, what a second source says, or the end of the process.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { questionAtEnd } from "../../src/coding-agents/hooks/question.ts";
import { field } from "../../src/core/text.ts";
import { rowsIn } from "../support/coding-agents/rows.ts";
import { HookStage } from "../support/coding-agents/stage.ts";

const WITNESSED = [
  "recordings/claude-code-2.1.197.txt",
  "recordings/claude-code-2.1.325.txt",
  "recordings/claude-code-2.1.325-auto-mode.txt",
  "recordings/codex-0.166.0.txt",
  "recordings/copilot-1.0.102.txt",
];
const ALL = [...WITNESSED, "hooks/gemini.txt", "hooks/qwen-code.txt"];
const CUE = /^\+(?<seconds>[\d.]+)s +(?<what>\S.*)$/;
const PATIENCE_MS = 5_000;
const LOOK_EVERY_MS = 500;
/** For every turn. */
const RUNS = { numRuns: 3 };

let home = "";
let stage: HookStage;

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

/** The turns of a recording; the first hook of each makes its session known. */
function turnsOf(name: string): readonly (readonly Cue[])[] {
  const parts = readFileSync(join(import.meta.dirname, name), "utf8").split("\n\n");
  return parts
    .map((part) =>
      part.split("\n").flatMap((line) => {
        const { seconds, what } = CUE.exec(line)?.groups ?? {};
        return what === undefined ? [] : { afterMs: Number(seconds) * 1000, what };
      }),
    )
    .filter((cues) => cues.some(({ what }) => isHook(what)));
}

function isState(what: string): boolean {
  return /^(?:sessions\/|app-server|events\/)/.test(what);
}

/** Of what Copilot CLI writes down not every line says what it does, nor how a turn ended. */
const UNDECIDED = /^events.*"type":"(?:tool\.execution|assistant\.message|assistant\.turn_end)/;

/** That a turn began is written down late, and no evidence against the hook of its end. */
function isPast(state: string, cues: readonly Cue[]): boolean {
  const isEnd = ({ what }: Cue) => what.includes('"Stop"') && !what.includes('"agent_id"');
  return /^events.*turn_start/.test(state) && cues.some(isEnd);
}

function isHook(what: string): boolean {
  return !isState(what) && what.includes("{");
}

const FATES = ["comes", "comes", "comes", "lost", "twice", "late"] as const;

interface Disturbance {
  /** The cues up to some moment. */
  readonly cues: readonly Cue[];
  readonly fates: readonly (typeof FATES)[number][];
}

/** From its first hook on, which comes: of a session that nobody heard of there is no row. */
function disturbed(turn: readonly Cue[]): fc.Arbitrary<Disturbance> {
  const first = turn.findIndex(({ what }) => isHook(what)) + 1;
  return fc.integer({ min: first, max: turn.length }).chain((length) =>
    fc.record({
      cues: fc.constant(turn.slice(0, length)),
      fates: fc
        .array(fc.constantFrom(...FATES), { minLength: length, maxLength: length })
        .map((fates) => fates.with(first - 1, "comes")),
    }),
  );
}

/** Hooks may be lost; the second source is a state that is there to be read. */
function replay({ cues, fates }: Disturbance): { readonly tellLate: () => void } {
  rmSync(home, { recursive: true, force: true });
  stage = new HookStage();
  const late: { readonly what: string; readonly beganMs: number }[] = [];
  const tellLate = () => {
    for (const { what, beganMs } of late.splice(0)) {
      stage.act(what.replace("{", `{"late_ms":${stage.nowMs - beganMs},`));
    }
  };
  for (const [i, { afterMs, what }] of cues.entries()) {
    stage.nowMs += afterMs;
    const fate = isHook(what) ? fates[i] : "comes";
    if (fate === "late") late.push({ what, beganMs: stage.nowMs });
    if (fate === "comes" || fate === "twice") stage.act(what);
    if (fate === "twice") stage.act(what);
    if (fate !== "late") tellLate();
  }
  return { tellLate };
}

/** The rows when it has been looked at them for as long as a wrong one may stand. */
function rowsInTheEnd(): readonly string[] {
  for (let ms = 0; ms < PATIENCE_MS; ms += LOOK_EVERY_MS) {
    stage.nowMs += LOOK_EVERY_MS;
    stage.look();
  }
  return [...rowsIn(join(home, "status"), stage.nowMs).values()];
}

/** At rest it may have failed, and ask with what the last words of an answer asked: no dialog. */
function atRest(cues: readonly Cue[]): RegExp {
  const asked = cues.flatMap(({ what }) => {
    if (!isHook(what)) return [];
    const payload: unknown = JSON.parse(what.slice(what.indexOf("{")));
    const words = ["last_assistant_message", "prompt_response"].map((key) => field(payload, key));
    return words.flatMap((each) => questionAtEnd(each)?.text ?? []);
  });
  const questions = asked.map((text) => `|NEEDS YOU ${text.replaceAll(/[^\w\s]/gu, "\\$&")}$`);
  return new RegExp(`^(?:IDLE|PROBLEM${questions.join("")})`, "u");
}

const OPENING = /"(?:SessionStart|UserPromptSubmit|BeforeAgent|PreToolUse|BeforeTool)"/;

/** The headlines that a state of the second source allows. */
function allowed(state: string, cues: readonly Cue[]): RegExp {
  if (/"status":"waiting"|waitingOn|permission\.requested/.test(state)) return /^NEEDS YOU/;
  if (/"status":"busy"|"active"|turn_start|"approved"|"denied/.test(state)) return /^WORKING/;
  return atRest(cues);
}

/** Each row is as expected, and there is one: it was heard of, and did not say that it is over. */
function expectRows(expected: RegExp, { cues, fates }: Disturbance): void {
  const rows = rowsInTheEnd();
  // Of Qwen's tool that asks only its request for permission tells.
  const opens = (what: string) => OPENING.test(what) && !what.includes('"ask_user_question"');
  const isKnown = cues.some(({ what }, i) => opens(what) && fates[i] === "comes");
  const mayBeOver = cues.some(({ what }) => /SessionEnd|notLoaded|"source":"clear"/.test(what));
  if (isKnown && !mayBeOver) expect(rows).not.toEqual([]);
  for (const row of rows) expect(row).toMatch(expected);
}

describe("hooks lost, doubled and late do not outlive", () => {
  test.each(WITNESSED)("what the second source says: %s", (name) => {
    for (const turn of turnsOf(name)) {
      fc.assert(
        fc.property(disturbed(turn), (disturbance) => {
          const { cues } = disturbance;
          const state = cues.findLast(({ what }) => isState(what))?.what ?? "";
          replay(disturbance).tellLate();
          if (state === "" || UNDECIDED.test(state) || isPast(state, cues)) return;
          expectRows(allowed(state, turn), disturbance);
        }),
        RUNS,
      );
    }
  });

  // What a subagent asks is over with that subagent, not with the turn.
  const byHooks = (name: string) =>
    turnsOf(name)
      .map((cues) => cues.filter(({ what }) => !isState(what) && !what.includes('"agent_id"')))
      .filter((cues) => cues.some(({ what }) => isHook(what)));

  test.each(ALL)("a hook that says otherwise: %s", (name) => {
    for (const turn of byHooks(name)) {
      const evidence = fc.constantFrom(
        ["UserPromptSubmit", /^WORKING/],
        ["Stop", atRest(turn)],
        ["StopFailure", /^PROBLEM/],
        ["Interrupt", atRest(turn)],
        // Without its second source: beside a dialog of Claude Code another call may begin.
        ...(name.includes("claude-code") ? [] : [["PreToolUse", /^WORKING/]]),
      ) as fc.Arbitrary<readonly [string, RegExp]>;
      fc.assert(
        fc.property(disturbed(turn), evidence, (disturbance, [event, expected]) => {
          const { tellLate } = replay(disturbance);
          stage.nowMs += 1;
          stage.act(`${lastHook(disturbance)},"hook_event_name":"${event}"}`);
          tellLate();
          expectRows(expected, disturbance);
        }),
        RUNS,
      );
    }
  });

  test.each(ALL)("the process: %s", (name) => {
    for (const turn of turnsOf(name)) {
      fc.assert(
        fc.property(disturbed(turn), (disturbance) => {
          const { tellLate } = replay(disturbance);
          stage.nowMs += 1;
          for (const { what } of disturbance.cues) stage.act(`kill ${pidIn(what)}`);
          tellLate();
          expect(rowsInTheEnd()).toEqual([]);
        }),
        RUNS,
      );
    }
  });
});

/** The last one of a session, up to where its event could stand. */
function lastHook({ cues }: Disturbance): string {
  const what = cues.findLast((cue) => isHook(cue.what))?.what ?? "";
  const hook = JSON.parse(what.slice(what.indexOf("{"))) as Session;
  const { session_id = hook.sessionId, transcript_path } = hook;
  const session = JSON.stringify({ session_id, transcript_path });
  return `${what.slice(0, what.indexOf("{"))}${session.slice(0, -1)}`;
}

interface Session {
  readonly session_id?: string;
  readonly sessionId?: string;
  readonly transcript_path?: string;
}

function pidIn(what: string): string {
  return /^(?:sessions\/|[a-z-]+ )(?<pid>\d+)/.exec(what)?.groups?.["pid"] ?? "0";
}

test("with one source alone, a turn whose end was lost is a problem in the end", () => {
  stage = new HookStage();
  for (const event of ["SessionStart", "UserPromptSubmit"]) {
    stage.act(`codex 100 {"session_id":"s","hook_event_name":"${event}","prompt":"go"}`);
  }
  const rows = () => [...rowsIn(join(home, "status"), stage.nowMs).values()];
  expect(rows()).toEqual(["WORKING   go"]);
  stage.nowMs += 11 * 60_000;
  stage.look();
  expect(rows()).toEqual(["PROBLEM   go"]);
});
