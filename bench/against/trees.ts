/**
 * A commit beside the working tree, built and ready to be measured: a git worktree below .cache/,
 * which stays there for the next time. It shares our node_modules while its lock file is ours, and
 * our Python peers while it wants the same.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/root.mjs";

export interface Commit {
  readonly hash: string;
  /** The short hash and the subject. */
  readonly title: string;
}

/** The commit that a caller names as "main~3" or by its hash. */
export function commitOf(name: string): Commit {
  const hash = run(root, "git", "rev-parse", "--verify", "--end-of-options", `${name}^{commit}`);
  return { hash, title: run(root, "git", "log", "-1", "--format=%h %s", hash) };
}

/** Where the commit lies, built. */
export function checkOut({ hash }: Commit): string {
  const tree = join(root, ".cache", "against", hash);
  // Forced: the .cache of last time may be gone, while git still has it in its books.
  if (!fs.existsSync(tree)) run(root, "git", "worktree", "add", "--force", "--detach", tree, hash);
  providePackages(tree);
  sharePeers(tree);
  run(tree, process.execPath, "scripts/build.mjs");
  return tree;
}

function providePackages(tree: string): void {
  const packages = join(tree, "node_modules");
  if (fs.lstatSync(packages, { throwIfNoEntry: false })?.isSymbolicLink()) fs.unlinkSync(packages);
  const lockOf = (folder: string) => fs.readFileSync(join(folder, "package-lock.json"));
  // npm writes this file last: without it an installation was broken off.
  if (fs.existsSync(join(packages, ".package-lock.json"))) return;
  if (lockOf(tree).equals(lockOf(root))) fs.symlinkSync(join(root, "node_modules"), packages);
  else run(tree, "npm", "ci", "--ignore-scripts", "--loglevel=error");
}

/** One by one: a tree that wants another version of a peer replaces its link, and not ours. */
function sharePeers(tree: string): void {
  const [ours, theirs] = [join(root, ".cache", "venv"), join(tree, ".cache", "venv")];
  if (!fs.existsSync(ours)) return;
  fs.mkdirSync(theirs, { recursive: true });
  for (const name of fs.readdirSync(ours)) {
    const link = join(theirs, name);
    if (!fs.existsSync(link)) fs.symlinkSync(join(ours, name), link);
  }
}

/** What the command prints; throws with what it complains about when it fails. */
function run(cwd: string, command: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: "utf8" });
  if (status !== 0) throw new Error(`${[command, ...args].join(" ")}: ${stdout}${stderr}`);
  return stdout.trim();
}
