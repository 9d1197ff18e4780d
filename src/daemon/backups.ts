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
import { backUp } from "../log/sqlite/upkeep.ts";
import { makeFolder } from "../machine/folders.ts";

/** After a start, so that one that fails over and over fills no disk. */
const FIRST_MS = 1 * MINUTE;
const NAME = /^rollcall-.*\.backup(?:\.part)?$/;

export interface BackupPlan {
  readonly everyMs: number;
  /** How many are kept. */
  readonly keep: number;
}

export interface BackupsOptions extends BackupPlan {
  /** Of the state; backups go to a folder in it. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly audit: Pick<Audit, "note">;
  readonly madeBy: string;
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
    const sinceMs = options.clock.wallMs() - this.#newestMs();
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
    const { dataDir, clock, audit, madeBy, onBackup, onTrouble } = this.#options;
    try {
      makeFolder(this.#folder, 0o700);
      const moment = new Date(clock.wallMs()).toISOString().replaceAll(":", "-");
      const target = join(this.#folder, `rollcall-${moment}.backup`);
      await backUp({ path: join(dataDir, "rollcall.db"), target, madeBy });
      this.#prune();
      onBackup(target);
      await audit.note({ by: ownBy("engine"), action: "backup.create", target });
    } catch (error) {
      onTrouble("no backup was made", error);
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
    if (!fs.existsSync(this.#folder)) return [];
    return fs
      .readdirSync(this.#folder)
      .filter((name) => NAME.test(name))
      .toSorted();
  }

  /** Lets one that is under way finish. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#running;
  }
}
