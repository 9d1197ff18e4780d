/**
 * Three members on a real store, as processes that can be killed and stopped: what the tests of a
 * cluster and `npm run faults` are made of.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: other processes are asked again until they answer
import { setTimeout as pause } from "node:timers/promises";
import { root } from "../../scripts/root.mjs";
import type { KnownLog } from "../../src/engine/known-log.ts";
import { Cable } from "../support/cable.ts";
import type { Mend, SharedStore, StoreOptions } from "./shared-store.ts";
import { startStore, type StoreKind } from "./stores.ts";

const PROGRAM = join(root, "dist/bin/rollcall.cjs");
const AGENT = join(root, "test/cluster/agent.mjs");
const START_MS = 60_000;
const NODES = ["a", "b", "c"];

export interface ClusterView {
  readonly leader?: string;
  readonly mode: string;
  readonly head: number;
}

/** One daemon, across its restarts. */
export class MemberProcess {
  readonly node: string;
  readonly #folder: string;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #said = "";
  url = "";
  grpc = "";

  /** The flags name its log, and where others reach it. */
  constructor(node: string, folder: string, flags: readonly string[]) {
    this.node = node;
    this.#folder = folder;
    this.#flags = flags;
  }

  /** The last that it saw of the log, as it remembers it from time to time. */
  get known(): KnownLog | undefined {
    const file = join(this.#folder, this.node, "state", "cluster.json");
    return (JSON.parse(readFileSync(file, "utf8")) as { known?: KnownLog }).known;
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get said(): string {
    return this.#said;
  }

  async start(): Promise<void> {
    const home = join(this.#folder, this.node);
    const config = join(this.#folder, `${this.node}.toml`);
    const command = `command = ["${process.execPath}", "${AGENT}"]\n`;
    const steady = `[agents.steady]\nrestart = "always"\n${command}`;
    writeFileSync(config, `[agents.echo]\n${command}${steady}`);
    const free = ["--addr", ":0", "--http-addr", ":0"];
    const place = ["--data-dir", join(home, "state"), ...this.#flags, "--node", this.node];
    const quiet = ["--no-status-files", "--rate-limit", "0", "--log-level", "warn"];
    const args = [PROGRAM, "up", ...free, ...place, ...quiet, "--config", config];
    const env = { PATH: process.env["PATH"], HOME: home, TZ: "UTC" };
    const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
    this.#child = child;
    this.#said = "";
    const hear = (text: string) => (this.#said = (this.#said + text).slice(-20_000));
    child.stdout.setEncoding("utf8").on("data", hear);
    child.stderr.setEncoding("utf8").on("data", hear);
    const [, url = "", grpc = ""] = await this.#says(/HTTP +(http:\S+)\s+gRPC +(\S+)[^]*member/);
    this.url = url;
    this.grpc = grpc;
  }

  async #says(pattern: RegExp): Promise<RegExpExecArray> {
    for (const endMs = Date.now() + START_MS; Date.now() < endMs; await pause(20)) {
      const found = pattern.exec(this.#said);
      if (found) return found;
      if (this.#child?.exitCode !== null) break;
    }
    throw new Error(`${this.node} did not say ${String(pattern)}:\n${this.#said}`);
  }

  signal(name: NodeJS.Signals): void {
    this.#child?.kill(name);
  }

  /** Ends it at once, or after it has said goodbye. */
  async end(name: "SIGKILL" | "SIGTERM" = "SIGKILL"): Promise<void> {
    const child = this.#child;
    if (child?.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGCONT");
    child.kill(name);
    await ended;
  }

  /** As this member sees the cluster; undefined where it does not answer. */
  async view(): Promise<ClusterView | undefined> {
    try {
      const signal = AbortSignal.timeout(1000);
      const answer = await fetch(`${this.url}/v1/cluster`, { signal });
      return answer.ok ? ((await answer.json()) as ClusterView) : undefined;
    } catch {
      return undefined;
    }
  }
}

export class TestCluster {
  readonly store: SharedStore;
  readonly members: readonly MemberProcess[];
  readonly #folder: string;
  /** Through which the others reach each, where they are wired. */
  readonly #doors: ReadonlyMap<string, Cable>;

  static async start(kind: StoreKind, options: StoreOptions = {}): Promise<TestCluster> {
    const store = await startStore(kind, options);
    const folder = mkdtempSync(join(tmpdir(), "rollcall-cluster-"));
    const doors = new Map<string, Cable>();
    const members: MemberProcess[] = [];
    for (const node of NODES) {
      const flags = [...(await store.flagsOf(node)), "--cluster-addr"];
      if (options.isWired === true) {
        const door = await doorOf();
        doors.set(node, door);
        flags.push(`127.0.0.1:${door.port}`, "--advertise", door.host);
      } else flags.push(":0");
      members.push(new MemberProcess(node, folder, flags));
    }
    const cluster = new TestCluster({ store, members, folder, doors });
    try {
      for (const member of members) await member.start();
      await cluster.settled();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  private constructor({ store, members, folder, doors }: ClusterParts) {
    this.store = store;
    this.members = members;
    this.#folder = folder;
    this.#doors = doors;
  }

  /** Between members so far. */
  get carriedBytes(): number {
    return [...this.#doors.values()].reduce((sum, door) => sum + door.carriedBytes, 0);
  }

  /** From now on the other members do not reach this one, and nobody is told. */
  shut({ node }: MemberProcess): Mend {
    const door = this.#doors.get(node);
    door?.swallow();
    return async () => door?.mend();
  }

  /** The member that says that it leads, asked until one does. */
  async leader(): Promise<MemberProcess> {
    for (const endMs = Date.now() + START_MS; Date.now() < endMs; await pause(20)) {
      for (const member of this.members) {
        if ((await member.view())?.mode === "leading") return member;
      }
    }
    throw new Error("nobody leads");
  }

  async follower(): Promise<MemberProcess> {
    const leader = await this.leader();
    const other = this.members.find((member) => member !== leader);
    if (!other) throw new Error("there is one member alone");
    return other;
  }

  /** All have joined, and agree on who leads. */
  async settled(): Promise<void> {
    let seen: unknown;
    for (const endMs = Date.now() + START_MS; Date.now() < endMs; await pause(50)) {
      const views = await Promise.all(this.members.map((member) => member.view()));
      seen = views;
      const leaders = new Set(views.map((view) => view?.leader));
      const isJoined = views.every(
        (view) => view && "isMember" in view && view.isMember && "members" in view,
      );
      if (isJoined && leaders.size === 1 && !leaders.has(undefined)) return;
    }
    throw new Error(`the members do not agree: ${JSON.stringify(seen)}`);
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end()));
    for (const door of this.#doors.values()) door.close();
    await this.store.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

interface ClusterParts {
  readonly store: SharedStore;
  readonly members: readonly MemberProcess[];
  readonly folder: string;
  readonly doors: ReadonlyMap<string, Cable>;
}

/** To a port that is free now. */
async function doorOf(): Promise<Cable> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await once(probe.close(), "close");
  const door = await Cable.open();
  door.port = port;
  return door;
}
