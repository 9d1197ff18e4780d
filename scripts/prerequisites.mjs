/**
 * What some tests need beyond npm packages, and how to get it. `npm test` gets what is missing
 * where it may (as root). What is missing even then fails with CI=true; elsewhere the tests that
 * need it are skipped: `test.skipIf(lacks("tmpfs"))`.
 */
import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { root } from "./root.mjs";

const keeper = environment("agentkeeper", "keeper");
const status = environment("agent-status", "agent-status");

/** The Python that has the AgentKeeper SDK. */
export const AGENTKEEPER_PYTHON = keeper.python;
/** The Python that has the program agent-status. */
export const AGENT_STATUS_PYTHON = status.python;

/**
 * @typedef {object} Prerequisite
 * @property {string} name
 * @property {string} need what for
 * @property {() => boolean} isThere
 * @property {string} [apt] the Debian package that brings it
 * @property {() => boolean} [install] another way to get it
 */

/** @type {readonly Prerequisite[]} */
export const PREREQUISITES = [
  { name: "tmpfs", need: "a small disk to fill up", isThere: canMountTmpfs },
  {
    name: "python",
    need: "to run the peers that are written in it",
    isThere: () => run("python3", "-c", "import venv, ensurepip"),
    apt: "python3-venv",
  },
  {
    name: "agentkeeper-sdk",
    need: "the client that our gRPC door is a drop-in for",
    isThere: keeper.isThere,
    install: keeper.install,
  },
  {
    name: "agent-status",
    need: "the program whose files and commands ours are",
    isThere: status.isThere,
    install: status.install,
  },
];

const isRoot = process.getuid?.() === 0;

/** @param {string} name */
export function lacks(name) {
  const found = PREREQUISITES.find((each) => each.name === name);
  if (!found) throw new Error(`${name} is not in the table of prerequisites`);
  return !found.isThere();
}

/**
 * Gets what is missing, and returns what cannot be had.
 * @returns {readonly Prerequisite[]}
 */
export function provide() {
  const missing = PREREQUISITES.filter((each) => !each.isThere());
  const packages = missing.flatMap(({ apt }) => apt ?? []);
  if (packages.length > 0 && isRoot) {
    console.error(`installing ${packages.join(" ")}…`);
    run("apt-get", "update", "-qq");
    run("apt-get", "install", "-qq", "-y", "--no-install-recommends", ...packages);
  }
  for (const { name, install } of missing) {
    if (!install) continue;
    console.error(`installing ${name}…`);
    install();
  }
  return missing.filter((each) => !each.isThere());
}

function canMountTmpfs() {
  if (!isRoot) return false;
  const directory = mkdtempSync(join(tmpdir(), "rollcall-"));
  const isMounted = run("mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", directory);
  if (isMounted) run("umount", directory);
  rmdirSync(directory);
  return isMounted;
}

/**
 * A Python of its own for what a peer needs, in the versions that test/peers/PEER names.
 * @param {string} name
 * @param {string} peer
 */
function environment(name, peer) {
  const folder = join(root, ".cache", "venv", name);
  const wanted = join(root, "test", "peers", peer, "requirements.txt");
  /** What it was made from; the last thing written, so it is whole when that is there. */
  const made = join(folder, "requirements.txt");
  const python = join(folder, "bin", "python");
  return {
    python,
    isThere: () => existsSync(made) && readFileSync(made).equals(readFileSync(wanted)),
    install: () => {
      rmSync(folder, { recursive: true, force: true });
      const isMade =
        run("python3", "-m", "venv", folder) &&
        run(python, "-m", "pip", "install", "--quiet", "--requirement", wanted);
      if (isMade) copyFileSync(wanted, made);
      return isMade;
    },
  };
}

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, ...args) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  return spawnSync(command, args, { stdio: "ignore", env }).status === 0;
}
