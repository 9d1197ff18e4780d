/**
 * Backups by the clock: one every so often, and the newest few are kept. One that fails is told and
 * tried again in its turn; those from before stay.
 */
import * as fs from "node:fs";
import { join } from "node:path";
import { ownBy } from "../core/by.ts";
import type { Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import type { Audit } from "../engine/audit.ts";
import { makeFolder } from "../machine/folders.ts";

/** After a start, so that one that fails over and over fills no disk. */
const FIRST_MS = 1 * MINUTE;
const NAME = /^rollcall-(.*)\.backup$/;
/** Left by a process that ended while it made one. */
const PART = /^rollcall-.*\.part(-wal|-shm|\.witness)?$/;

export interface BackupPlan {
  readonly everyMs: number;
  /** How many are kept. */
  readonly keep: number;
}

export interface BackupsOptions extends BackupPlan {
  /** Makes one in the file of that name. */
  readonly make: (target: string) => Promise<unknown>;
  /** Of the state; backups go to a folder in it. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly audit: Pick<Audit, "note">;
  readonly onBackup: (file: string) => void;
  readonly onTrouble: (what: string, error: unknown) => void;
}

export class Backups {
  readonly #options: BackupsOptions;
  readonly #folder: string;
  #stop: () => void = () => undefined;
  #running: Promise<void> = Promise.resolve();
  #isClosed = false;

  constructor(options: BackupsOptions) {
    this.#options = options;
    this.#folder = join(options.dataDir, "backups");
    this.#removeParts();
    // A clock that was set back since has nobody wait longer than from one to the next.
    const sinceMs = Math.max(0, options.clock.wallMs() - this.#newestMs());
    this.#plan(Math.max(FIRST_MS, options.everyMs - sinceMs));
  }

  #plan(inMs: number): void {
    this.#stop = this.#options.clock.after(inMs, () => {
      this.#running = this.#make().finally(() => {
        if (!this.#isClosed) this.#plan(this.#options.everyMs);
      });
    });
  }

  async #make(): Promise<void> {
    const { make, audit, onBackup, onTrouble } = this.#options;
    try {
      makeFolder(this.#folder, 0o700);
      const target = join(this.#folder, `rollcall-${this.#nextMoment()}.backup`);
      await make(target);
      this.#prune();
      onBackup(target);
      await audit.note({ by: ownBy("engine"), action: "backup.create", target });
    } catch (error) {
      onTrouble("no backup was made", error);
    }
  }

  /** Later than that of the newest, also when the clock was set back: names give the order. */
  #nextMoment(): string {
    const newest = NAME.exec(this.#names().at(-1) ?? "")?.[1] ?? "";
    const newestMs = Date.parse(newest.replace(/T(\d\d)-(\d\d)-/, "T$1:$2:"));
    const wallMs = this.#options.clock.wallMs();
    const ms = newestMs >= wallMs ? newestMs + 1 : wallMs;
    return new Date(ms).toISOString().replaceAll(":", "-");
  }

  #removeParts(): void {
    for (const name of this.#files().filter((each) => PART.test(each))) {
      fs.rmSync(join(this.#folder, name), { force: true });
    }
  }

  #prune(): void {
    const { keep } = this.#options;
    for (const name of this.#names().slice(0, -keep)) fs.rmSync(join(this.#folder, name));
  }

  #newestMs(): number {
    const name = this.#names().at(-1);
    return name === undefined ? 0 : fs.statSync(join(this.#folder, name)).mtimeMs;
  }

  /** The oldest first: their names are the moments. */
  #names(): readonly string[] {
    return this.#files()
      .filter((name) => NAME.test(name))
      .toSorted();
  }

  #files(): readonly string[] {
    return fs.statSync(this.#folder, { throwIfNoEntry: false })?.isDirectory()
      ? fs.readdirSync(this.#folder)
      : [];
  }

  /** Lets one that is under way finish. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#running;
  }
}
