import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newSession } from "../../src/coding-agents/hooks/session.ts";
import { Spool } from "../../src/coding-agents/hooks/spool.ts";
import { bundled } from "../support/bundled.ts";

const writer = await bundled("test/kill/spool-writer.ts");
const WRITERS = 6;
const FACTS = 25;

interface Written {
  readonly count: number;
  readonly wasKilled: boolean;
}

/** How many facts one writer left, killed after so many if it should be. */
async function write(directory: string, killAt: number | undefined): Promise<Written> {
  const child = spawn(process.execPath, [writer, directory, String(FACTS)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let count = 0;
  child.stdout.on("data", (dots: Buffer) => {
    count += dots.length;
    if (killAt !== undefined && count >= killAt) child.kill("SIGKILL");
  });
  const signal = await new Promise((resolve) => {
    child.on("close", (_code, by) => resolve(by));
  });
  return { count, wasKilled: signal === "SIGKILL" };
}

function heard(directory: string): number {
  const versions = readdirSync(directory).flatMap((name) => /^state-(\d+)/.exec(name)?.[1] ?? []);
  const latest = Math.max(...versions.map(Number));
  const text = readFileSync(join(directory, `state-${latest}.json`), "utf8");
  return (JSON.parse(text) as { heard: number }).heard;
}

test("writers side by side lose no fact, though half of them are killed on the way", async () => {
  const directory = mkdtempSync(join(tmpdir(), "rollcall-spool-kill-"));
  try {
    const written = await Promise.all(
      Array.from({ length: WRITERS }, (_, i) => write(directory, i % 2 ? i * 4 : undefined)),
    );
    const spool = new Spool({
      folder: directory,
      initial: newSession("codex", "s"),
      publish: () => undefined,
    });
    expect(spool.settle().task?.state).toBe("working");
    const told = written.reduce((sum, { count }) => sum + count, 0);
    const killed = written.filter(({ wasKilled }) => wasKilled).length;
    expect(told).toBeGreaterThanOrEqual((WRITERS / 2) * FACTS);
    // Whoever was killed may have left one more than it could say.
    expect(heard(directory)).toBeGreaterThanOrEqual(told);
    expect(heard(directory)).toBeLessThanOrEqual(told + killed);
    expect(readdirSync(directory).filter((name) => name.startsWith("fact-"))).toEqual([]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}, 60_000);
