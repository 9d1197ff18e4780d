/** A state folder of its own for each test, and what the status files in it say. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, vi } from "vitest";
import { field } from "../../../src/core/text.ts";
import type { Status } from "../../../src/wires/files/format.ts";
import { readStatusDir } from "../../../src/wires/files/read.ts";

export interface Stage {
  readonly home: string;
}

export function useStage(): Stage {
  const stage = { home: "" };
  beforeEach(() => {
    stage.home = mkdtempSync(join(tmpdir(), "rollcall-host-"));
    vi.stubEnv("XDG_STATE_HOME", stage.home);
    vi.stubEnv("AGENT_STATUS_DIR", join(stage.home, "status"));
    vi.stubEnv("ROLLCALL_AGENT_ID", "me");
    vi.stubEnv("TMUX", "");
  });
  afterEach(() => rmSync(stage.home, { recursive: true, force: true }));
  return stage;
}

export function statuses({ home }: Stage): readonly Status[] {
  return readStatusDir(join(home, "status")).map((reading) =>
    reading.kind === "status" ? reading.status : expect.fail(reading.problems.join()),
  );
}

/** "working: fix it", or "nobody"; of several, in the order of their ids. */
function shown(stage: Stage): string {
  const told = statuses(stage).map(({ task }) =>
    task?.state ? [task.state, task.summary].filter(Boolean).join(": ") : "idle",
  );
  return told.join(" | ") || "nobody";
}

export async function shows(stage: Stage, wanted: string): Promise<void> {
  await vi.waitFor(() => expect(shown(stage)).toBe(wanted));
}

/** The question of the one that asks. */
export function asked(stage: Stage): unknown {
  const owns = statuses(stage).map(({ x_meta }) => x_meta?.["rollcall"]);
  return owns.map((own) => field(own, "question")).find(Boolean);
}
