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
import { badgePath } from "../../src/coding-agents/hooks/attendance.ts";
import { deposit } from "../../src/coding-agents/hooks/deposit.ts";
import { DIALECTS } from "../../src/coding-agents/hooks/dialects.ts";
import { factOf, sessionIdOf, type HookHost } from "../../src/coding-agents/hooks/fact.ts";
import { recordOf } from "../../src/coding-agents/hooks/record.ts";
import { Sidecar } from "../../src/coding-agents/hooks/sidecar.ts";
import { readStatusDir } from "../../src/wires/files/read.ts";

const FOLDER = join(import.meta.dirname, "hooks");
const START_MS = Date.UTC(2026, 0, 1, 12);

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
  const stage = new Stage();
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

class Stage {
  nowMs = START_MS;
  #hooks = 0;
  #shown = new Map<string, ReadonlyMap<string, string>>();
  readonly #killed = new Set<number>();
  readonly #sidecars = new Map<string, Sidecar>();

  act(what: string): void {
    const [word = "", ...rest] = what.split(" ");
    if (word === "kill") this.#killed.add(Number(rest[0]));
    if (word === "kill" || word === "heartbeat") this.#lookAfter();
    else this.#hook(word as HookHost, Number(rest[0]), JSON.parse(rest.slice(1).join(" ")));
  }

  /** With `late_ms` in its payload the hook began so long before it was heard. */
  #hook(host: HookHost, pid: number, payload: unknown): void {
    this.#hooks += 1;
    const beganMs = this.nowMs - ((payload as { late_ms?: number }).late_ms ?? 0);
    const order = (beganMs - START_MS) * 1000 + 1_000_000 + this.#hooks;
    const circumstances = {
      id: `${String(order).padStart(16, "0")}-${this.#hooks}`,
      order,
      atMs: beganMs,
      process: { pid, start: "1" },
    };
    const dialect = DIALECTS[host];
    const fact = factOf(dialect.translate?.(payload) ?? payload, circumstances, dialect);
    if (!fact) return;
    const session = { host, sessionId: sessionIdOf(payload) ?? "", now: () => this.nowMs };
    const { folder, spool } = recordOf(session);
    deposit(folder, fact);
    if (spool.settle().isOver) return;
    writeFileSync(badgePath(folder), JSON.stringify({ token: "t" }));
    const runs = ({ pid: each }: { readonly pid: number }) => !this.#killed.has(each);
    const sidecar = new Sidecar({ ...session, token: "t", runs });
    if (!this.#sidecars.has(folder)) this.#sidecars.set(folder, sidecar);
  }

  #lookAfter(): void {
    for (const [directory, sidecar] of this.#sidecars) {
      if (!sidecar.look()) this.#sidecars.delete(directory);
    }
  }

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
