// What OpenCode and Pi told our modules, as it was recorded from the real programs, and the rows
// that follow from it. `> start` is a new process, `> dialog` a call of Pi's `ctx.ui`; every other
// cue is an event by its name. Changes are written below their cue: UPDATE_TRANSCRIPTS=1 anew.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { beforeEach, describe, expect, test, vi } from "vitest";
import { RollcallPlugin, type OpenCodeHooks } from "../../src/coding-agents/opencode/plugin.ts";
import type { PiUi } from "../../src/coding-agents/pi/dialogs.ts";
import { rollcallExtension, type PiContext } from "../../src/coding-agents/pi/extension.ts";
import { StatusEmitter } from "../../src/wires/files/emitter.ts";
import { disturbed } from "../support/coding-agents/disturbed.ts";
import { useStage } from "../support/coding-agents/in-process.ts";

const FOLDER = join(import.meta.dirname, "modules");

useStage();

/** The row of each session, in words, as it was told last. */
const rows = new Map<string, string>();

beforeEach(() => {
  rows.clear();
  const meta = new WeakMap<StatusEmitter, unknown>();
  vi.spyOn(StatusEmitter.prototype, "describe").mockImplementation(function (
    this: StatusEmitter,
    description,
  ) {
    meta.set(this, description.meta);
  });
  vi.spyOn(StatusEmitter.prototype, "task").mockImplementation(function (
    this: StatusEmitter,
    task,
  ) {
    const { question } = (meta.get(this) as { rollcall?: { question?: Asked } }).rollcall ?? {};
    const options = question?.options && `[${question.options.join(" / ")}]`;
    const words = [task?.state ?? "idle", task?.summary, options].filter(Boolean);
    rows.set(this.agentId, words.join(" "));
  });
  vi.spyOn(StatusEmitter.prototype, "close").mockImplementation(function (this: StatusEmitter) {
    rows.set(this.agentId, "gone");
    this.closeSync();
    return Promise.resolve();
  });
});

interface Asked {
  readonly options?: readonly string[];
}

describe("a recording", () => {
  test.each(readdirSync(FOLDER))("%s", async (name) => {
    const path = join(FOLDER, name);
    const written = readFileSync(path, "utf8");
    const played = await replay(name, written);
    if (process.env["UPDATE_TRANSCRIPTS"]) writeFileSync(path, played);
    else expect(written).toBe(played);
  });
});

async function replay(name: string, text: string): Promise<string> {
  const player = name.startsWith("pi") ? new PiPlayer() : new OpenCodePlayer();
  const lines: string[] = [];
  for (const line of text.split("\n").filter((each) => !each.startsWith("    "))) {
    lines.push(line);
    if (!line.startsWith("> ")) continue;
    const before = new Map(rows);
    await player.play(line.slice(2));
    const changed = [...rows].filter(([id, words]) => before.get(id) !== words);
    lines.push(...changed.map(([id, words]) => `    ${id}  ${words}`));
  }
  await player.end();
  return lines.join("\n");
}

class OpenCodePlayer {
  #hooks: OpenCodeHooks | undefined;

  async play(cue: string): Promise<void> {
    const [word, json] = split(cue);
    if (word === "start") {
      await this.end();
      this.#hooks = await RollcallPlugin({ directory: "/home/dev/project" });
    } else if (word === "event") await this.#hooks?.event({ event: json as never });
    else {
      const hook = this.#hooks?.[word as keyof OpenCodeHooks] as (...words: unknown[]) => unknown;
      await hook(...(json as unknown[]));
    }
  }

  async end(): Promise<void> {
    for (const id of rows.keys()) {
      const properties = { info: { id: id.replace("opencode-", "") } };
      await this.#hooks?.event({ event: { type: "session.deleted", properties } });
    }
    rows.clear();
  }
}

class PiPlayer {
  readonly #handlers = new Map<string, (event: unknown, context: PiContext) => unknown>();
  readonly #closes: ((value: unknown) => void)[] = [];
  readonly #ui: PiUi;

  constructor() {
    const open = () => new Promise((resolve) => this.#closes.push(resolve));
    this.#ui = { select: open, confirm: open, input: open, editor: open, custom: open };
    rollcallExtension({ on: (event, handler) => this.#handlers.set(event, handler) });
  }

  async play(cue: string): Promise<void> {
    const [word, json] = split(cue);
    if (word === "dialog") {
      const [kind, ...words] = json as [keyof PiUi, ...unknown[]];
      void this.#ui[kind]?.(...words);
    } else if (word === "closed") {
      this.#closes.shift()?.(json);
      await Promise.resolve();
      await Promise.resolve();
    } else {
      const getSessionId = () => (json as { readonly id: string }).id;
      const context = { cwd: "/home/dev/project", ui: this.#ui, sessionManager: { getSessionId } };
      await this.#handlers.get(word)?.(json, context);
    }
  }

  /** A dialog lasts as long as its extension waits for the answer, whatever events say. */
  async closeAll(): Promise<void> {
    while (this.#closes.length > 0) await this.play('closed "No"');
  }

  async end(): Promise<void> {
    await this.play("session_shutdown {}");
  }
}

function split(cue: string): readonly [string, unknown] {
  const at = cue.indexOf(" ");
  return at === -1 ? [cue, undefined] : [cue.slice(0, at), JSON.parse(cue.slice(at + 1))];
}

function cuesIn(name: string): readonly string[] {
  const lines = readFileSync(join(FOLDER, name), "utf8").split("\n");
  return lines.filter((line) => line.startsWith("> ")).map((line) => line.slice(2));
}

describe("events dropped, doubled and out of order never outlive", () => {
  const SESSION = "ses_e1c3715daffe";
  const all = cuesIn("opencode.txt");
  /** Of a session and the subagents that work for it. */
  const family = (id: string) => {
    const isChild = (cue: string) => cue.includes(`"parentID":"${id}"`);
    const children = all.filter(isChild).flatMap((cue) => /"id":"(ses_\w+)"/.exec(cue)?.[1] ?? []);
    return all.filter((cue) => [id, ...children].some((each) => cue.includes(each)));
  };
  const parents = [...new Set(all.flatMap((cue) => /"parentID":"(ses_\w+)"/.exec(cue)?.[1] ?? []))];

  test.each([SESSION, ...parents])("the end of a turn of OpenCode: %s", async (id) => {
    const properties = { sessionID: id, status: { type: "idle" } };
    const event = { id: "evt_zzz", type: "session.status", properties };
    const ending = `event ${JSON.stringify(event)}`;
    const cues = family(id);
    // Of a subagent that was lost on the way nothing ends with the turn of its session.
    const endings = cues.flatMap((cue) => /"id":"(ses_\w+)"/.exec(cue)?.[1] ?? []);
    const others = [...new Set(endings)].map((each) => ending.replace(id, each));
    await fc.assert(
      fc.asyncProperty(disturbed(cues), async (told) => {
        const player = new OpenCodePlayer();
        for (const cue of ["start", ...told, ...others, ending]) await player.play(cue);
        expect(rows.get(`opencode-${id}`) ?? "idle").toMatch(/^(?:idle|failed)/);
        await player.end();
      }),
      { numRuns: 60 },
    );
  });

  test("the end of a session of OpenCode", async () => {
    const cues = family(SESSION);
    await fc.assert(
      fc.asyncProperty(disturbed(cues), async (told) => {
        const player = new OpenCodePlayer();
        for (const cue of ["start", ...told]) await player.play(cue);
        const properties = { info: { id: SESSION } };
        await player.play(`event ${JSON.stringify({ type: "session.deleted", properties })}`);
        expect(rows.get(`opencode-${SESSION}`) ?? "gone").toBe("gone");
        await player.end();
      }),
      { numRuns: 40 },
    );
  });

  const PI = [
    ["pi-0.73.txt", "agent_end"],
    ["pi-0.73-report.txt", "agent_end"],
    ["pi-0.87.txt", "agent_settled"],
    ["pi-0.87-report.txt", "agent_settled"],
  ] as const;
  const EVIDENCE = {
    "the next prompt": ['before_agent_start {"prompt":"next"}', /^working next$/],
    "the next attempt": ["agent_start {}", /^working/],
    "the end of the session": ["session_shutdown {}", /^gone$/],
  } as const;

  async function play(name: string, told: readonly string[], evidence: string): Promise<string> {
    const [start = ""] = cuesIn(name);
    const player = new PiPlayer();
    for (const cue of [start, ...told]) await player.play(cue);
    await player.closeAll();
    await player.play(evidence);
    const row = [...rows.values()].at(-1);
    await player.end();
    rows.clear();
    return row ?? "idle";
  }

  test.each(PI)("the end of a turn of %s: %s", async (name, ending) => {
    const cues = cuesIn(name).filter((cue) => !cue.startsWith("session_"));
    await fc.assert(
      fc.asyncProperty(disturbed(cues), async (told) => {
        expect(await play(name, told, `${ending} {}`)).toMatch(/^(?:idle|failed)/);
      }),
      { numRuns: 60 },
    );
  });

  test.each(PI)("what says otherwise of %s", async (name) => {
    const cues = cuesIn(name).filter((cue) => !cue.startsWith("session_"));
    for (const [evidence, expected] of Object.values(EVIDENCE)) {
      await fc.assert(
        fc.asyncProperty(disturbed(cues), async (told) => {
          expect(await play(name, told, evidence)).toMatch(expected);
        }),
        { numRuns: 20 },
      );
    }
  });
});
