/**
 * The history of every agent behind a proxy, kept for a day: one small file each, a line for every
 * change. Only derived records go in, never a frame. Best effort: a disk that is slow or full
 * costs lines, and no time.
 */
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import type { AcpRecord } from "../derive/record.ts";
import { makeFolder } from "../../../machine/folders.ts";
import { hooksFolder } from "../../../machine/places.ts";
import type { Environment } from "../../../machine/surroundings.ts";
import { TIMELINE } from "./limits.ts";

export interface TimelineLine {
  readonly at: string;
  /** The id of its proxy, and what it is called. */
  readonly agent: string;
  readonly name: string;
  readonly sessionId: string | null;
  readonly state: AcpRecord["state"];
  readonly status: AcpRecord["status"];
  readonly message: string | null;
  readonly currentTask: string | null;
  readonly background: boolean;
  readonly stalled: boolean;
}

export interface TimelineChange {
  readonly atMs: number;
  readonly agent: string;
  readonly name: string;
  readonly record: AcpRecord;
}

export function lineOf({ atMs, agent, name, record }: TimelineChange): TimelineLine {
  const { sessionId, state, status, message, currentTask, background, stalled } = record;
  const said = { sessionId, state, status, message, currentTask, background, stalled };
  return { at: new Date(atMs).toISOString(), agent, name, ...said };
}

export function timelineFolder(env: Environment = process.env): string {
  return join(dirname(hooksFolder(env)), "acp");
}

export class TimelineWriter {
  readonly #path: string;
  #lines: string[] = [];
  #writing: Promise<void> | undefined;
  #isLost = false;

  constructor(id: string, folder: string = timelineFolder()) {
    this.#path = join(folder, `${id}.jsonl`);
  }

  write(line: TimelineLine): void {
    if (this.#isLost || this.#lines.length >= TIMELINE.queued) return;
    this.#lines.push(`${JSON.stringify(line)}\n`);
    this.#writing ??= this.#drain().finally(() => (this.#writing = undefined));
  }

  async close(): Promise<void> {
    await this.#writing;
  }

  async #drain(): Promise<void> {
    const { stat, rename, appendFile } = fs.promises;
    try {
      makeFolder(dirname(this.#path), 0o700);
      while (this.#lines.length > 0) {
        const text = this.#lines.join("");
        this.#lines = [];
        const size = await stat(this.#path).then(
          (stats) => stats.size,
          () => 0,
        );
        if (size + text.length > TIMELINE.bytes) await rename(this.#path, `${this.#path}.1`);
        await appendFile(this.#path, text, { mode: 0o600 });
      }
    } catch {
      this.#isLost = true;
    }
  }
}

/** Removes the timelines that are too old to be asked for. */
export async function sweepTimelines(nowMs: number, folder: string): Promise<void> {
  try {
    for (const name of await fs.promises.readdir(folder)) {
      const path = join(folder, name);
      const { mtimeMs } = await fs.promises.stat(path);
      if (nowMs - mtimeMs > TIMELINE.keptMs) await fs.promises.rm(path, { force: true });
    }
  } catch {
    // There are none, or somebody else sweeps.
  }
}
