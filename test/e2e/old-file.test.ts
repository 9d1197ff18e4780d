/** Files of an older program, as a user of the built programs meets them. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import { expect, test } from "vitest";
import { sqliteStore } from "../../src/log/sqlite/store.ts";
import { importLedger } from "../../src/wires/arcp/ledger/import.ts";
import type { Frame } from "../fixtures/ledger/client.ts";
import { daemonFile, runtimeFile } from "../support/arcp/old-file.ts";
import { daemon, run, start } from "./programs.ts";

function hashOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

async function replayed(path: string, sessionId: string, after = 0): Promise<readonly Frame[]> {
  const args = ["replay", "--db", path, "--session", sessionId, "--after-seq", String(after)];
  const { stdout, stderr } = await run(args, { program: "arcp" });
  expect(stderr).toBe("");
  return stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Frame);
}

/** Without their ids, which are made anew. */
function saidBy(frames: readonly Frame[]): readonly object[] {
  return frames.map(({ type, job_id, event_seq, payload }) => {
    return { type, job_id, event_seq, payload };
  });
}

test("arcp replay prints the frames of an old file, and leaves it as it is", async () => {
  const { path, clients } = runtimeFile();
  const { sessionId, frames } = clients.alice;
  const before = hashOf(path);
  expect(saidBy(await replayed(path, sessionId))).toEqual(saidBy(frames));
  expect(saidBy(await replayed(path, sessionId, 30))).toEqual(saidBy(frames.slice(30)));
  expect(hashOf(path)).toBe(before);

  const store = sqliteStore({ path });
  await importLedger(store, { node: "solo" });
  await store.close();
  expect(saidBy(await replayed(path, sessionId))).toEqual(saidBy(frames));
});

test("arcp serve --db takes an old file over, once, and says so", async () => {
  const { path } = runtimeFile();
  const serve = ["serve", "--db", path, "--token", "alice", "--principal", "alice", "--port", "0"];
  await using first = start(serve, { program: "arcp" });
  await first.says(/listening on ws:/, "stderr");
  expect(first.stderr).toMatch(
    /^takes over 20 jobs and 5 sessions of an older version\narcp serve/,
  );
  first.signal("SIGINT");
  await first.end();
  await using second = start(serve, { program: "arcp" });
  await second.says(/listening on ws:/, "stderr");
  expect(second.stderr).not.toContain("takes over");
});

test("rollcall up takes an old folder over, once, and says so", async () => {
  const { path } = daemonFile();
  const lived = async () => {
    const folder = ["--data-dir", dirname(path), "--no-status-files", "--log-level", "info"];
    const { up } = await daemon(...folder);
    await using _ = up;
    up.signal("SIGTERM");
    return (await up.end()).stderr;
  };
  expect(await lived()).toContain("importing the jobs of an older version into the log");
  expect(await lived()).not.toContain("takes over");
});
