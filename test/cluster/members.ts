/**
 * Three members on a real store, as processes that can be killed and stopped: what the tests of a
 * cluster and `npm run faults` are made of.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// tidy-allow sleep: other processes are asked again until they answer
import { setTimeout as pause } from "node:timers/promises";
import { root } from "../../scripts/root.mjs";
import { startStore, type SharedStore, type StoreKind } from "./stores.ts";

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
  readonly #log: readonly string[];
  #child: ChildProcess | undefined;
  #said = "";
  url = "";
  grpc = "";

  /** `log` are the flags that name it. */
  constructor(node: string, folder: string, log: readonly string[]) {
    this.node = node;
    this.#folder = folder;
    this.#log = log;
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
    const free = ["--addr", ":0", "--http-addr", ":0", "--cluster-addr", ":0"];
    const place = ["--data-dir", join(home, "state"), ...this.#log, "--node", this.node];
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

  static async start(kind: StoreKind = "postgres"): Promise<TestCluster> {
    const store = await startStore(kind);
    const folder = mkdtempSync(join(tmpdir(), "rollcall-cluster-"));
    const members = NODES.map((name) => new MemberProcess(name, folder, store.flags));
    const cluster = new TestCluster(store, members, folder);
    try {
      for (const member of members) await member.start();
      await cluster.settled();
      return cluster;
    } catch (error) {
      await cluster.close();
      throw error;
    }
  }

  private constructor(store: SharedStore, members: readonly MemberProcess[], folder: string) {
    this.store = store;
    this.members = members;
    this.#folder = folder;
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
    await this.store.stop();
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}
