/** The programs from the npm registry, each version in a folder of its own that is kept. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

export interface Package {
  /** Its name in the registry. */
  readonly name: string;
  readonly version: string;
}

export function folderOf({ name, version }: Package): string {
  return join(root, ".cache", "hosts", `${name.replace("/", "+")}@${version}`);
}

/** Without the scripts of the package: nothing of it runs outside of the namespace. */
export function fetchPackage(wanted: Package): void {
  const folder = folderOf(wanted);
  const installed = join(folder, "node_modules", wanted.name, "package.json");
  if (existsSync(installed)) return;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
  const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-save"];
  const { status } = spawnSync("npm", [...words, `${wanted.name}@${wanted.version}`], {
    cwd: folder,
    stdio: ["ignore", "ignore", "inherit"],
  });
  if (status !== 0) throw new Error(`npm could not install ${wanted.name} ${wanted.version}`);
}
