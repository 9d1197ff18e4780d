/** A disk of a few megabytes that a test can fill up and make room on again. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, type TestContext } from "vitest";

export interface SmallDisk {
  readonly folder: string;
  /** Gives half of it back. */
  readonly freeRoom: () => void;
}

/** A folder that is gone after the test, and whether it is a disk of its own. */
export function mountedFolder(megabytes: number): { folder: string; isMounted: boolean } {
  const folder = fs.mkdtempSync(join(tmpdir(), "rollcall-disk-"));
  const options = ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", folder];
  const isMounted = spawnSync("mount", options).status === 0;
  onTestFinished(() => {
    if (isMounted) spawnSync("umount", ["--lazy", folder]);
    fs.rmSync(folder, { recursive: true, force: true });
  });
  return { folder, isMounted };
}

/** Skips the test where nobody may mount; with CI=true that fails it. */
export function smallDisk(context: TestContext, megabytes = 8): SmallDisk {
  const { folder, isMounted } = mountedFolder(megabytes);
  if (!isMounted && process.env["CI"] === "true") throw new Error("cannot mount a small disk");
  if (!isMounted) context.skip("needs the right to mount");
  const ballast = join(folder, "ballast");
  fs.writeFileSync(ballast, Buffer.alloc((megabytes << 20) / 2));
  return { folder, freeRoom: () => fs.rmSync(ballast) };
}
