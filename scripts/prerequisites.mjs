/**
 * What some tests need beyond npm packages, and how to get it. `npm test` gets what is missing
 * where it may (as root). What is missing even then fails with CI=true; elsewhere the tests that
 * need it are skipped: `test.skipIf(lacks("tmpfs"))`.
 */
import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./root.mjs";

const keeper = environment("agentkeeper", "keeper");
const status = environment("agent-status", "agent-status");
const oldStatus = environment("agent-status-0.1.4", "agent-status-0.1.4");
const oldRegistry = environment("a2a-0.1", "a2a-0.1");
const registry = environment("a2a-0.2", "a2a-0.2");
const fastRegistry = environment("a2a-bench", "a2a-bench");
const arcp = environment("arcp", "arcp");
const acp = environment("acp", "acp");
const nats = environment("nats", "nats");
const acpPrograms = packageFolder("acp");

/** The Python that has the AgentKeeper SDK. */
export const AGENTKEEPER_PYTHON = keeper.python;
const keeperSource = join(root, ".cache", "source", "agentkeeper");
/** The tests that the SDK has of its own. */
export const AGENTKEEPER_TESTS = join(keeperSource, "tests");
/** The Pythons that have the program agent-status, the newest and the one of the seed. */
export const AGENT_STATUS_PYTHON = status.python;
export const AGENT_STATUS_014_PYTHON = oldStatus.python;
/** The Pythons that have the A2A registry, in its two generations; the newer also has MCP. */
export const A2A_01_PYTHON = oldRegistry.python;
export const A2A_02_PYTHON = registry.python;
/** The Python that has the ARCP SDK and its command. */
export const ARCP_PYTHON = arcp.python;
/** The Python that has the ACP SDK. */
export const ACP_PYTHON = acp.python;
/** Where the npm packages of the ACP peers are: acpx and qwen-code. */
export const ACP_PACKAGES = acpPrograms.folder;

/** The server of NATS, which a Python package brings along. */
export const NATS_SERVER = join(dirname(nats.python), "nats-server");

export const CHROMIUM = "/usr/bin/chromium";

const H2SPEC_VERSION = "v2.2.1+incompatible";
const goPrograms = join(root, ".cache", "go");
/** The conformance test of HTTP/2. */
export const H2SPEC = join(goPrograms, "h2spec");

/**
 * @typedef {object} Prerequisite
 * @property {string} name
 * @property {string} need what for
 * @property {() => boolean} isThere
 * @property {string} [apt] the Debian package that brings it
 * @property {() => boolean} [install] another way to get it
 * @property {boolean} [isOnDemand] nothing that `npm test` needs: whoever does names it
 */

/** @type {readonly Prerequisite[]} */
export const PREREQUISITES = [
  { name: "tmpfs", need: "a small disk to fill up", isThere: canMountTmpfs },
  {
    name: "cc",
    need: "to have the soaked daemon give back what malloc keeps",
    isThere: () => run("cc", "--version"),
    apt: "gcc",
  },
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
    name: "agentkeeper-tests",
    need: "the tests of that client, which only its source has",
    isThere: () => existsSync(AGENTKEEPER_TESTS),
    install: installKeeperSource,
  },
  {
    name: "agent-status",
    need: "the program whose files and commands ours are",
    isThere: status.isThere,
    install: status.install,
  },
  {
    name: "agent-status-0.1.4",
    need: "the version of it that its own description is of",
    isThere: oldStatus.isThere,
    install: oldStatus.install,
  },
  {
    name: "a2a-registry-0.1",
    need: "the first generation of the registry that our A2A wire is a drop-in for",
    isThere: oldRegistry.isThere,
    install: oldRegistry.install,
  },
  {
    name: "a2a-registry-0.2",
    need: "its second generation, and a client of MCP",
    isThere: registry.isThere,
    install: registry.install,
  },
  {
    name: "arcp-sdk",
    need: "the ARCP client and runtime that ours speak with",
    isThere: arcp.isThere,
    install: arcp.install,
  },
  {
    name: "acp-sdk",
    need: "an ACP agent of another language",
    isThere: acp.isThere,
    install: acp.install,
  },
  {
    name: "a2a-bench",
    need: "the fastest A2A registry there is beside ours (npm run bench a2a)",
    isThere: fastRegistry.isThere,
    install: fastRegistry.install,
    isOnDemand: true,
  },
  {
    name: "acp-programs",
    need: "an ACP client and an ACP agent as their users have them",
    isThere: acpPrograms.isThere,
    install: acpPrograms.install,
  },
  {
    name: "tmux",
    need: "the terminals of a real coding agent",
    isThere: () => run("tmux", "-V"),
    apt: "tmux",
  },
  {
    name: "namespaces",
    need: "a network with loopback alone, in which a real coding agent runs",
    isThere: () => run("unshare", "--net", "--pid", "--fork", "--mount-proc", "true"),
  },
  {
    name: "ip",
    need: "a line between two machines that are namespaces of this one",
    isThere: () => run("ip", "-V"),
    apt: "iproute2",
  },
  {
    name: "curl",
    need: "a client of HTTP/2 that is not ours",
    isThere: () => run("curl", "--version"),
    apt: "curl",
  },
  {
    name: "nginx",
    need: "the proxy of the recipe in docs/security.md",
    isThere: () => run("nginx", "-v"),
    apt: "nginx",
  },
  {
    name: "postgres",
    need: "the database that members of a cluster share",
    isThere: () => postgresPrograms() !== undefined,
    apt: "postgresql",
  },
  {
    name: "nats",
    need: "the servers that members of a cluster share instead",
    isThere: nats.isThere,
    install: nats.install,
  },
  {
    name: "h2load",
    need: "to load our doors from outside Node (npm run bench keeper, a2a)",
    isThere: () => run("h2load", "--version"),
    apt: "nghttp2-client",
    isOnDemand: true,
  },
  {
    name: "etcd",
    need: "what the gRPC door is compared with (npm run bench keeper)",
    isThere: () => run("etcd", "--version"),
    apt: "etcd-server",
    isOnDemand: true,
  },
  {
    name: "redis",
    need: "what deliveries to many watchers are compared with (npm run bench keeper)",
    isThere: () => run("redis-server", "--version"),
    apt: "redis-server",
    isOnDemand: true,
  },
  {
    name: "hyperfine",
    need: "to time commands (npm run bench files)",
    isThere: () => run("hyperfine", "--version"),
    apt: "hyperfine",
    isOnDemand: true,
  },
  {
    name: "go",
    need: "to make the conformance test of HTTP/2",
    isThere: () => run("go", "version"),
    apt: "golang-go",
  },
  {
    name: "h2spec",
    need: "to test our HTTP/2 as its standard says",
    isThere: () => existsSync(H2SPEC),
    install: installH2spec,
  },
  {
    name: "chromium",
    need: "to look at the page as people do",
    isThere: () => existsSync(CHROMIUM),
    apt: "chromium",
  },
];

const isRoot = process.getuid?.() === 0;

/** Where Debian puts the servers, which are not on the path: a folder for each version. */
const POSTGRES_VERSIONS = "/usr/lib/postgresql";

/** The folder of the newest Postgres that has a server, and not only clients. */
export function postgresPrograms() {
  if (!existsSync(POSTGRES_VERSIONS)) return undefined;
  return readdirSync(POSTGRES_VERSIONS)
    .toSorted((a, b) => Number(b) - Number(a))
    .map((version) => join(POSTGRES_VERSIONS, version, "bin"))
    .find((folder) => existsSync(join(folder, "initdb")));
}

/** @param {string} name */
export function lacks(name) {
  const found = PREREQUISITES.find((each) => each.name === name);
  if (!found) throw new Error(`${name} is not in the table of prerequisites`);
  return !found.isThere();
}

/**
 * Gets what is missing of these, else of what tests need, and returns what cannot be had.
 * @param {readonly string[]} [names]
 * @returns {readonly Prerequisite[]}
 */
export function provide(names) {
  const wanted = PREREQUISITES.filter(({ name, isOnDemand }) =>
    names ? names.includes(name) : !isOnDemand,
  );
  const missing = wanted.filter((each) => !each.isThere());
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

function installKeeperSource() {
  mkdirSync(keeperSource, { recursive: true });
  const source = ["--no-deps", "--no-binary", "agentkeeper", "agentkeeper==0.1.1"];
  const archive = join(keeperSource, "agentkeeper-0.1.1.tar.gz");
  return (
    run(keeper.python, "-m", "pip", "download", "--quiet", "--dest", keeperSource, ...source) &&
    run("tar", "-xzf", archive, "-C", keeperSource, "--strip-components=1")
  );
}

function installH2spec() {
  const module = `github.com/summerwind/h2spec/cmd/h2spec@${H2SPEC_VERSION}`;
  const env = { ...process.env, GOBIN: goPrograms };
  return spawnSync("go", ["install", module], { stdio: "ignore", env }).status === 0;
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
 * The npm packages that test/peers/PEER/packages.json names, apart from ours.
 * @param {string} peer
 */
function packageFolder(peer) {
  const home = join(root, ".cache", "npm", peer);
  const wanted = join(root, "test", "peers", peer, "packages.json");
  /** Written last, so they are all there when it is. */
  const made = join(home, "made-from.json");
  return {
    folder: join(home, "node_modules"),
    isThere: () => existsSync(made) && readFileSync(made).equals(readFileSync(wanted)),
    install: () => {
      rmSync(home, { recursive: true, force: true });
      mkdirSync(home, { recursive: true });
      copyFileSync(wanted, join(home, "package.json"));
      const flags = ["--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts"];
      const isMade = run("npm", "install", "--prefix", home, ...flags);
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
