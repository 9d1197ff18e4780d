/**
 * What real programs sent, and the rows that it makes. The payloads are those of a recording,
 * without what no rule reads; what watches beside the hooks is as it was seen to change with them.
 * The cues are those of test/support/coding-agents/stage.ts:
 *
 *   +1s  codex 200 {"hook_event_name": …}
 *     codex-01a1  NEEDS YOU Bash: touch made        the row from now on, where it changed
 *
 * UPDATE_TRANSCRIPTS=1 writes the answers anew: read them as a diff before you believe them.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { rowsIn } from "../support/coding-agents/rows.ts";
import { HookStage } from "../support/coding-agents/stage.ts";

const FOLDER = join(import.meta.dirname, "recordings");
const CUE = /^\+(?<seconds>[\d.]+)s +(?<what>\S.*)$/;

let home = "";

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "rollcall-recordings-"));
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

function play(text: string): string {
  const stage = new HookStage();
  let shown: ReadonlyMap<string, string> = new Map();
  const lines = text.split("\n").filter((line) => !line.startsWith("    "));
  return lines
    .flatMap((line) => {
      const cue = CUE.exec(line)?.groups;
      if (!cue) return [line];
      stage.nowMs += Number(cue["seconds"]) * 1000;
      stage.act(cue["what"] ?? "");
      const now = rowsIn(join(home, "status"), stage.nowMs);
      const changed = [...now].filter(([id, row]) => shown.get(id) !== row);
      const gone = [...shown.keys()].filter((id) => !now.has(id));
      shown = now;
      return [
        line,
        ...changed.map(([id, row]) => `    ${id}  ${row}`),
        ...gone.map((id) => `    ${id}  GONE`),
      ];
    })
    .join("\n");
}
