/**
 * "Acknowledged = on disk", on the real thing: a process that writes through the engine to SQLite
 * is killed at random moments, fifty times over. After each, everything it acknowledged is in the
 * log, and what it started from was exactly what a replay of the log gives.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, expect, test } from "vitest";
import { decode, type RecordedEvent } from "../../src/core/events.ts";
import { rules } from "../../src/core/rules.ts";
import { fingerprint } from "../../src/core/snapshot.ts";
import { emptyState } from "../../src/core/state.ts";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { Random } from "../simulation/random.ts";
import { bundled } from "../support/bundled.ts";

const KILLS = 50;
const writer = await bundled("test/kill/writer.ts");
const folder = mkdtempSync(join(tmpdir(), "rollcall-kill-"));
const path = join(folder, "rollcall.db");

afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Start {
  readonly head: number;
  readonly hash: string;
}

interface Life {
  /** "lease.acquired 17": what was acknowledged, in the words of `factOf`. */
  readonly acknowledged: readonly string[];
  /** Absent when it was killed before it could say. */
  readonly start: Start | undefined;
}

interface Fate {
  /** Killed after it acknowledged this many things, or so soon that it may not have started. */
  readonly lines: number;
  readonly afterMs?: number;
}

async function live({ lines, afterMs }: Fate): Promise<Life> {
  const child = spawn(process.execPath, [writer, path], { stdio: ["ignore", "pipe", "inherit"] });
  // tidy-allow sleep: the moment of the kill is the test
  const killing = afterMs === undefined ? undefined : setTimeout(kill, afterMs);
  function kill() {
    child.kill("SIGKILL");
  }
  const acknowledged: string[] = [];
  let start: Start | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const said = readLine(line);
    if (said?.kind === "started") start = { head: said.head, hash: said.hash };
    else if (said) acknowledged.push(`${said.kind} ${said.agentId ?? said.taskId ?? said.token}`);
    if (acknowledged.length === lines) kill();
  }
  clearTimeout(killing);
  return { acknowledged, start };
}

interface Said {
  readonly kind: string;
  readonly head: number;
  readonly hash: string;
  readonly agentId?: string;
  readonly taskId?: string;
  readonly token?: number;
}

/** The last line may have been cut in the middle. */
function readLine(line: string): Said | undefined {
  try {
    return JSON.parse(line) as Said;
  } catch {
    return undefined;
  }
}

async function readLog(): Promise<RecordedEvent[]> {
  const store = sqliteStore({ path });
  await store.log.open();
  const events: RecordedEvent[] = [];
  for await (const { first, entries } of store.log.read(0)) {
    for (const [i, text] of entries.entries()) events.push(decode(text, first + i));
  }
  await store.close();
  return events;
}

function factOf({ event }: RecordedEvent): string {
  switch (event.type) {
    case "agent.registered":
    case "agent.died":
      return `${event.type} ${event.agent.agentId}`;
    case "lease.acquired":
      return `${event.type} ${event.lease.token}`;
    case "task.created":
      return `${event.type} ${event.task.id}`;
    case "task.completed":
      return `${event.type} ${event.taskId}`;
    default:
      return event.type;
  }
}

function replay(events: readonly RecordedEvent[], head: number): string {
  const state = emptyState();
  for (const { event, atMs } of events.slice(0, head)) rules.evolve(state, event, atMs);
  return createHash("sha256").update(fingerprint(state)).digest("hex");
}

test(
  "nothing that was acknowledged is lost when the process is killed",
  { timeout: 180_000 },
  async () => {
    const seed = Date.now() % 1_000_000;
    const random = new Random(seed);
    const acknowledged: string[] = [];
    let starts = 0;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const life = await live({
        lines: random.between(1, 600),
        ...(kill % 5 === 0 ? { afterMs: random.between(50, 500) } : {}),
      });
      acknowledged.push(...life.acknowledged);
      const events = await readLog();
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, i) => i + 1));
      const facts = new Set(events.map(factOf));
      const lost = acknowledged.filter((fact) => !facts.has(fact));
      expect(lost, `lost after kill ${kill} of seed ${seed}`).toEqual([]);
      if (!life.start) continue;
      starts += 1;
      expect(life.start.hash, `state at ${life.start.head}, seed ${seed}`).toBe(
        replay(events, life.start.head),
      );
    }
    expect(starts).toBeGreaterThan(KILLS / 2);
    expect(acknowledged.length).toBeGreaterThan(1000);
  },
);
