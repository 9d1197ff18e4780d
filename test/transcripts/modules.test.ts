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

/** Up to some moment: of ten events one is lost, one comes twice and one after its successor. */
function disturbed(cues: readonly string[]): fc.Arbitrary<readonly string[]> {
  const fates = fc.array(fc.nat({ max: 9 }), { maxLength: cues.length, size: "max" });
  return fates.map((chosen) => {
    const told: string[] = [];
    let held: string | undefined;
    for (const [i, fate] of chosen.entries()) {
      const cue = cues[i] ?? "";
      if (fate === 0) continue;
      if (fate === 1) {
        held = cue;
        continue;
      }
      told.push(cue, ...(fate === 2 ? [cue] : []), ...(held === undefined ? [] : [held]));
      held = undefined;
    }
    return told;
  });
}

describe("events that are dropped, doubled and out of order never outlive the end of a turn", () => {
  test("of OpenCode", async () => {
    const SESSION = "ses_e1c3715daffe";
    const cues = cuesIn("opencode.txt").filter((cue) => cue.includes(SESSION));
    const properties = { sessionID: SESSION, status: { type: "idle" } };
    const event = { id: "evt_zzz", type: "session.status", properties };
    const ending = `event ${JSON.stringify(event)}`;
    await fc.assert(
      fc.asyncProperty(disturbed(cues), async (told) => {
        const player = new OpenCodePlayer();
        for (const cue of ["start", ...told, ending]) await player.play(cue);
        expect(rows.get(`opencode-${SESSION}`) ?? "idle").toMatch(/^(?:idle|failed)/);
        await player.end();
      }),
      { numRuns: 200 },
    );
  });

  test.each([
    ["pi-0.73.txt", "agent_end"],
    ["pi-0.87.txt", "agent_settled"],
  ])("of %s: %s", async (name, ending) => {
    const all = cuesIn(name);
    const [start = ""] = all;
    const cues = all.filter((cue) => !/^session_/.test(cue));
    await fc.assert(
      fc.asyncProperty(disturbed(cues), async (told) => {
        const player = new PiPlayer();
        for (const cue of [start, ...told]) await player.play(cue);
        await player.closeAll();
        await player.play(`${ending} {}`);
        expect([...rows.values()].at(-1) ?? "idle").toMatch(/^(?:idle|failed)/);
        await player.end();
        rows.clear();
      }),
      { numRuns: 200 },
    );
  });
});
