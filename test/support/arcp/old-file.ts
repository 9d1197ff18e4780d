/** For tests of the import: files that an older program wrote, and what its clients had seen. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { MemoryMedium, memoryStore } from "../../../src/log/memory/store.ts";
import { connect } from "../../../src/log/sqlite/driver.ts";
import { sqliteStore } from "../../../src/log/sqlite/store.ts";
import type { Store } from "../../../src/log/store.ts";
import type { Seen } from "../../fixtures/ledger/client.ts";
import { appendAt } from "../log/append.ts";

const FOLDER = fileURLToPath(new URL("../../fixtures/ledger/", import.meta.url));

export interface OldFile<Client extends string, Job extends string> {
  /** When its program ended. */
  readonly atMs: number;
  readonly jobs: Readonly<Record<Job, string>> & { readonly bobs: readonly string[] };
  readonly clients: Readonly<Record<Client, Seen>>;
  /** A copy, to be changed. */
  readonly path: string;
}

type RuntimeClient = "alice" | "gone" | "follower" | "plain" | "bob";
type RuntimeJob =
  | "forgotten"
  | "gone"
  | "done"
  | "failed"
  | "streamed"
  | "keyed"
  | "late"
  | "cancelled"
  | "phoenix"
  | "parent"
  | "child"
  | "cancelling"
  | "stepping";

/** What an ArcpRuntime left on SQLite. */
export function runtimeFile(): OldFile<RuntimeClient, RuntimeJob> {
  return oldFile("runtime", "runtime.db");
}

type DaemonJob = "done" | "failed" | "running" | "asking" | "phoenix";

/** What `rollcall up` left in its folder when it was killed. */
export function daemonFile(): OldFile<"local" | "follower", DaemonJob> {
  return oldFile("daemon", "rollcall.db");
}

function oldFile<Client extends string, Job extends string>(
  name: string,
  copiedAs: string,
): OldFile<Client, Job> {
  const folder = mkdtempSync(join(tmpdir(), "rollcall-old-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, copiedAs);
  copyFileSync(join(FOLDER, `${name}.db`), path);
  const text = readFileSync(join(FOLDER, `${name}.jsonl`), "utf8").trimEnd();
  const [about, ...clients] = text.split("\n").map((line) => JSON.parse(line) as object);
  return {
    ...(about as Pick<OldFile<Client, Job>, "atMs" | "jobs">),
    clients: Object.assign({}, ...clients) as Record<Client, Seen>,
    path,
  };
}

/** As if so many more had used it: jobs and sessions under other ids, still in schema 1. */
export async function multiply(path: string, times: number): Promise<void> {
  const store = sqliteStore({ path });
  const { log: _, ...streams } = await contentsOf(store);
  await store.close();
  const rows: string[] = [];
  for (let n = 1; n <= times; n += 1) {
    for (const [stream, { length }] of Object.entries(streams)) {
      const name = renamed(stream, n);
      const before = name === stream ? length * n : 0;
      const entries = Buffer.from(renamed(streams[stream]?.join("\n") ?? "", n)).toString("hex");
      const id = `(SELECT id FROM stream WHERE name = '${name}')`;
      rows.push(`INSERT OR IGNORE INTO stream (name, trimmed) VALUES ('${name}', 0);
        INSERT INTO journal VALUES (${id}, ${before + length}, ${before + 1}, x'${entries}');`);
    }
  }
  const database = await connect(path);
  database.exec(`BEGIN; ${rows.join("\n")} COMMIT`);
  database.close();
}

/** Ids that sort as they did: those of one millisecond differ at their end. */
function renamed(text: string, n: number): string {
  const code = n.toString(8).padStart(4, "0");
  return text.replaceAll(
    /(sess|job)_([0-9A-Z]{10})[0-9A-Z]{4}/g,
    (_, kind: string, time: string) => `${kind}_${time}${code}`,
  );
}

/** The same in memory, for tests on a clock moved by hand. */
export async function inMemory({ path }: { readonly path: string }): Promise<MemoryMedium> {
  const from = sqliteStore({ path });
  const medium = new MemoryMedium();
  await copy(from, memoryStore({ medium, shared: false }));
  await from.close();
  return medium;
}

export async function copy(from: Store, to: Store): Promise<void> {
  await from.log.open();
  await to.log.open();
  for await (const { first, entries } of from.log.read(0)) {
    await appendAt(to.log, { entries }, first - 1);
  }
  for await (const { stream } of from.streams.ranges("")) {
    for await (const { entries } of from.streams.read(stream, 0)) {
      await to.streams.append(stream, entries);
    }
  }
}

/** Everything in a store: its events, and every stream. */
export async function contentsOf({
  log,
  streams,
}: Store): Promise<Readonly<Record<string, string[]>>> {
  const contents: Record<string, string[]> = {};
  await log.open();
  for await (const { entries } of log.read(0)) (contents["log"] ??= []).push(...entries);
  for await (const { stream, oldest } of streams.ranges("")) {
    const texts: string[] = [];
    for await (const { entries } of streams.read(stream, oldest - 1)) texts.push(...entries);
    contents[stream] = texts;
  }
  return contents;
}
