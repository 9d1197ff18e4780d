/**
 * What hooks say and what the status files say then, as plays that one can read:
 *
 *   +2s  claude-code 100 {"hook_event_name": …}     a hook of the host whose process is 100
 *   +20s heartbeat                                  the sidecars look after their sessions
 *   +1s  kill 100                                   the host's process is no more
 *     claude-code-a  task.state  "working"          what changed in the file since the last line
 *
 * UPDATE_TRANSCRIPTS=1 writes the answers anew: read them as a diff before you believe them.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { HookStage } from "../support/coding-agents/stage.ts";
import { readStatusDir } from "../../src/wires/files/read.ts";

const FOLDER = join(import.meta.dirname, "hooks");

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rollcall-play-"));
  vi.stubEnv("XDG_STATE_HOME", home);
  vi.stubEnv("AGENT_STATUS_DIR", join(home, "status"));
});

afterEach(() => rmSync(home, { recursive: true, force: true }));

test.each(readdirSync(FOLDER))("%s", (name) => {
  const path = join(FOLDER, name);
  const written = readFileSync(path, "utf8");
  const played = play(written);
  if (process.env["UPDATE_TRANSCRIPTS"]) writeFileSync(path, played);
  else expect(written).toBe(played);
});

const CUE = /^\+(?<seconds>[\d.]+)s +(?<what>\S.*)$/;

function play(text: string): string {
  const stage = new Play();
  const lines = text.split("\n").filter((line) => !line.startsWith("    "));
  return lines
    .flatMap((line) => {
      const cue = CUE.exec(line)?.groups;
      if (!cue) return [line];
      stage.nowMs += Number(cue["seconds"]) * 1000;
      stage.act(cue["what"] ?? "");
      return [line, ...stage.changes()];
    })
    .join("\n");
}

class Play extends HookStage {
  #shown = new Map<string, ReadonlyMap<string, string>>();

  changes(): readonly string[] {
    const now = new Map<string, ReadonlyMap<string, string>>();
    for (const reading of readStatusDir(join(home, "status"), { nowMs: this.nowMs })) {
      if (reading.kind !== "status") throw new Error(reading.problems.join("; "));
      now.set(reading.status.agent_id, flat(reading.status));
    }
    const ids = [...new Set([...this.#shown.keys(), ...now.keys()])].toSorted();
    const lines = ids.flatMap((id) => difference(id, this.#shown.get(id), now.get(id)));
    this.#shown = now;
    return lines.length > 0 ? lines : ["    nothing changes"];
  }
}

type Fields = ReadonlyMap<string, string>;

function difference(id: string, before: Fields = new Map(), after?: Fields) {
  if (!after) return before.size > 0 ? [`    ${id}  removed`] : [];
  const gone = [...before.keys()].filter((path) => !after.has(path));
  const changed = [...after].filter(([path, value]) => before.get(path) !== value);
  return [
    ...gone.map((path) => `    ${id}  ${path.padEnd(34)} no more`),
    ...changed.map(([path, value]) => `    ${id}  ${path.padEnd(34)} ${value}`),
  ];
}

/** Every value of a status, by the path to it. */
function flat(value: unknown, path = ""): Map<string, string> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return new Map([[path, JSON.stringify(value)]]);
  }
  const entries = Object.entries(value).flatMap(([key, each]) => [
    ...flat(each, path === "" ? key : `${path}.${key}`),
  ]);
  return new Map(entries);
}
