/**
 * A power cut leaves each file as it was at some moment since it was last synced, and of what the
 * write-ahead log was given since then any part. In every such mix the store opens, and holds what
 * was synced and acknowledged.
 *
 * A short life is told step by step, in this thread, with a copy of the files after each. What the
 * disk has to hold is known from outside: a commit syncs the write-ahead log, a sweep does not, and
 * the syncs of the witness are listened to.
 */
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { Random } from "../../../test/simulation/random.ts";
import type * as databases from "./database.ts";
import { openTables } from "./opening.ts";
import { appendOf } from "./protocol.ts";
import type { Tables } from "./tables.ts";
import { readWitness } from "./witness.ts";
import { newAppendId } from "../../../test/support/log/append.ts";

const synced = vi.hoisted(() => ({ files: [] as number[] }));
vi.mock("node:fs", async (original) => {
  const actual = await original<typeof fs>();
  const fsyncSync = (file: number) => {
    actual.fsyncSync(file);
    synced.files.push(actual.fstatSync(file).ino);
  };
  return { ...actual, fsyncSync };
});

/** Rounds of the write-ahead log are short here. */
vi.mock("./database.ts", async (original) => {
  const actual = await original<typeof databases>();
  const openDatabase = async (path: string) => {
    const database = await actual.openDatabase(path);
    database.exec("PRAGMA wal_autocheckpoint = 60");
    return database;
  };
  return { ...actual, openDatabase };
});

const FRAME = 24 + 4096;
const HEADER = 32;

interface Moment {
  readonly what: string;
  readonly database: Buffer;
  readonly wal: Buffer;
  readonly witness: Buffer | undefined;
  /** Acknowledged and synced. */
  readonly head: number;
  readonly fence: number;
  /** Since which moment each file may be as it was. */
  readonly since: { readonly database: number; readonly wal: number; readonly witness: number };
}

/** A store that lives step by step, and the moments between its steps. */
class Life {
  readonly moments: Moment[] = [];
  #path = join(scratch(), "rollcall.db");
  #tables: Tables | undefined;
  #head = 0;
  #fence = 0;

  get tables(): Tables {
    if (!this.#tables) throw new Error("it is not open");
    return this.#tables;
  }

  async open(): Promise<void> {
    const { tables } = await openTables(this.#path, "this test");
    this.#tables = tables;
    this.#note("open", { wal: false, database: false });
  }

  append(texts: readonly string[], fence = 0): void {
    const append = appendOf({ entries: texts, fence }, { head: this.#head, id: newAppendId() });
    expect(this.tables.commit({ appends: [append], forgets: [] }).outcomes).toEqual([
      { heads: [] },
    ]);
    this.#head += texts.length;
    this.#fence = Math.max(this.#fence, fence);
    this.#note("append", { wal: true, database: false });
  }

  toStream(stream: string, text: string): void {
    const append = appendOf({ entries: [], streams: [{ stream, entries: [text] }] });
    this.tables.commit({ appends: [append], forgets: [] });
    this.#note("stream", { wal: true, database: false });
  }

  remove(stream: string): void {
    this.tables.commit({ appends: [], forgets: [{ streams: [stream], through: undefined }] });
    this.#note("remove", { wal: true, database: false });
  }

  /** One in eight is synced; that it may not be is what is tried here. */
  sweep(): boolean {
    const isLeft = this.tables.sweep();
    this.#note("sweep", { wal: false, database: false });
    return isLeft;
  }

  /** Moves the write-ahead log into the file, which syncs both. */
  close(): void {
    this.tables.close();
    this.#note("close", { wal: true, database: true });
    this.#goOnElsewhere();
  }

  /** Ends it as kill -9 does: another one finds the files as they are now, synced or not. */
  kill(): void {
    const { tables } = this;
    this.#goOnElsewhere();
    tables.close();
    synced.files.splice(0);
  }

  /** In Node 20 a file stays locked until the thread ends. */
  #goOnElsewhere(): void {
    const path = join(scratch(), "rollcall.db");
    for (const end of ["", "-wal", ".witness"]) {
      if (fs.existsSync(this.#path + end)) fs.copyFileSync(this.#path + end, path + end);
    }
    this.#tables = undefined;
    this.#path = path;
  }

  #note(what: string, isSynced: { readonly wal: boolean; readonly database: boolean }): void {
    const index = this.moments.length;
    const before = this.moments.at(-1);
    const [database, wal] = [this.#read("") ?? Buffer.of(), this.#read("-wal") ?? Buffer.of()];
    const inode = fs.statSync(`${this.#path}.witness`, { throwIfNoEntry: false })?.ino ?? -1;
    const isWitnessSynced = synced.files.splice(0).includes(inode);
    // A checkpoint syncs the write-ahead log before it writes to the file.
    const isMoved = before && !before.database.equals(database);
    // And it syncs the file before the next round of that begins.
    const isNextRound = before && before.wal.length > 0 && !sameRound(before.wal, wal);
    this.moments.push({
      what,
      database,
      wal,
      witness: this.#read(".witness"),
      head: this.#head,
      fence: this.#fence,
      since: {
        database: isSynced.database || isNextRound ? index : (before?.since.database ?? 0),
        wal: isSynced.wal || isNextRound || isMoved ? index : (before?.since.wal ?? 0),
        witness: isWitnessSynced ? index : (before?.since.witness ?? 0),
      },
    });
  }

  #read(end: string): Buffer | undefined {
    return fs.existsSync(this.#path + end) ? fs.readFileSync(this.#path + end) : undefined;
  }
}

function sameRound(one: Buffer, other: Buffer): boolean {
  return one.subarray(16, 24).equals(other.subarray(16, 24));
}

function scratch(): string {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-cut-"));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** More by LIVES=100 npx vitest run src/log/sqlite/power-cut.test.ts */
const LIVES = Number(process.env["LIVES"] ?? 1);
const CUTS = 40;

const LARGE = "x".repeat(40_000);

/** Sessions, rounds of the write-ahead log, sweeps in a row and commits of many frames. */
async function lived(random: Random): Promise<readonly Moment[]> {
  const life = new Life();
  for (let session = 0; session < 3; session += 1) {
    await life.open();
    const steps = random.between(3, 14);
    for (let step = 0; step < steps; step += 1) {
      const stream = `${session}.${step}`;
      const count = random.between(1, 3);
      life.append(
        Array.from({ length: count }, () => `entry of ${stream}`),
        step + 1,
      );
      if (random.chance(0.3)) life.append([LARGE, LARGE]);
      if (random.chance(0.5)) {
        for (let block = 0; block < 12; block += 1) life.toStream(stream, LARGE);
        life.remove(stream);
        for (let sweeps = random.between(0, 6); sweeps > 0 && life.sweep(); sweeps -= 1);
      }
    }
    if (random.chance(0.5)) life.close();
    else life.kill();
  }
  return life.moments;
}

interface Mix {
  readonly what: string;
  readonly database: Buffer;
  readonly wal: Buffer;
  readonly witness: Buffer | undefined;
}

/** What a cut at a moment can leave: every file of its own moment, the log with holes. */
function mixOf(moments: readonly Moment[], at: number, random: Random): Mix {
  const cut = momentAt(moments, at);
  const of = (since: number) => momentAt(moments, random.between(since, at));
  const [database, witness] = [of(cut.since.database), of(cut.since.witness)];
  const least = momentAt(moments, cut.since.wal);
  const wal = withHoles(least.wal, of(cut.since.wal).wal, random);
  const what = [cut, database, witness].map((each) => `${moments.indexOf(each)} ${each.what}`);
  return { what: what.join(", "), database: database.database, wal, witness: witness.witness };
}

/** Of the frames that were written since the sync, some are what they were before. */
function withHoles(kept: Buffer, written: Buffer, random: Random): Buffer {
  if (kept.equals(written) || random.chance(0.3)) return written;
  const torn = Buffer.from(written);
  for (let from = HEADER; from < torn.length; from += FRAME) {
    const end = Math.min(from + FRAME, torn.length);
    const isKept = kept.length >= end && kept.subarray(from, end).equals(torn.subarray(from, end));
    if (isKept || random.chance(0.7)) continue;
    torn.fill(0, from, end);
    if (kept.length >= end) kept.copy(torn, from, from, end);
  }
  return torn;
}

function momentAt(moments: readonly Moment[], index: number): Moment {
  const moment = moments[index];
  if (!moment) throw new Error(`there is no moment ${index}`);
  return moment;
}

test("whatever a power cut leaves is opened, with all that was synced before it", async () => {
  const seed = Number(process.env["SEED"] ?? Date.now() % 1_000_000);
  process.stdout.write(`power cuts with SEED=${seed}\n`);
  const random = new Random(seed);
  for (let life = 0; life < LIVES; life += 1) {
    const moments = await lived(random);
    for (let cut = 0; cut < CUTS; cut += 1) {
      const at = random.between(0, moments.length - 1);
      const { head, fence } = momentAt(moments, at);
      const { what, ...files } = mixOf(moments, at, random);
      const found = await opened(files).catch((error: unknown) => ({
        head: 0,
        floor: 0,
        error: String(error),
      }));
      const isKept = found.head >= head && found.floor >= fence;
      expect(isKept, `${what}: ${JSON.stringify({ head, fence, found })}`).toBe(true);
    }
  }
}, 240_000);

async function opened({ database, wal, witness }: Omit<Mix, "what">) {
  const path = join(scratch(), "rollcall.db");
  fs.writeFileSync(path, database);
  if (wal.length > 0) fs.writeFileSync(`${path}-wal`, wal);
  if (witness) fs.writeFileSync(`${path}.witness`, witness);
  const { floor = 0 } = readWitness(path) ?? {};
  const { tables } = await openTables(path, "this test");
  const { head } = tables.verify();
  tables.close();
  return { head, floor };
}
