/** A disk of its own, in memory, that can be filled up and made room on again. */
import { execFileSync } from "node:child_process";
import { chmodSync, closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PIECES = [1 << 20, 4096, 1];

export class Disk {
  readonly folder: string;

  /** Needs the right to mount. */
  constructor(megabytes: number) {
    this.folder = mkdtempSync(join(tmpdir(), "rollcall-disk-"));
    const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", this.folder];
    execFileSync("mount", options);
    // Postgres runs as another user.
    chmodSync(this.folder, 0o777);
  }

  get #ballast(): string {
    return join(this.folder, "ballast");
  }

  /** To the last byte. */
  fill(): void {
    const file = openSync(this.#ballast, "a");
    for (const bytes of PIECES) {
      const piece = Buffer.alloc(bytes);
      try {
        while (writeSync(file, piece) === bytes);
      } catch {
        // No room for a piece of this size.
      }
    }
    closeSync(file);
  }

  free(): void {
    rmSync(this.#ballast, { force: true });
  }

  close(): void {
    execFileSync("umount", ["--lazy", this.folder]);
    rmSync(this.folder, { recursive: true, force: true });
  }
}
