/**
 * Where one program plays: a scratch home, a daemon, a model and terminals, all of its own. A
 * moment is something that a person or the program does, and the rows that must be shown within
 * two seconds of it, and then stay.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "../../scripts/root.mjs";
import { agentNamed } from "../../src/coding-agents/agents.ts";
import { readIfThere } from "../../src/machine/settings/installer.ts";
import { Daemon, ROLLCALL } from "../tour/daemon.ts";
import { until } from "../tour/until.ts";
import { hookCost, nodeStartMs } from "./cost.ts";
import { areAsExpected, Fleet, inWords, type ExpectedRow, type ShownRow } from "./fleet.ts";
import { startModel, type Model } from "./model/server.ts";
import { Tmux, type Terminal } from "./terminal.ts";

export interface Cell {
  readonly moment: string;
  readonly expected: string;
  /** How long after the moment the rows were right. */
  readonly afterMs: number;
  /** How long they might take, where that is more than two seconds. */
  readonly withinMs?: number;
  /** Why the cell is wrong, if it is. */
  readonly problem?: string;
}

/** A moment that this program is not asked for, and why. */
export interface Omission {
  readonly moment: string;
  readonly reason: string;
}

/**
 * From the moment on the program's screen. The evidence is a hook, which is a process of Node:
 * where starting one takes long, there is that much more time.
 */
const WITHIN_MS = 2_000;
/** A hook may take so many times as long as Node that does nothing. */
const HOOK_COST = 1.5;
/** On a busy machine a large program takes minutes to its first screen. */
export const START_MS = 180_000;
/** What is right must stay right. */
const STEADY_MS = 800;
/** A wrong cell is looked at for longer, to tell one that is late from one that stays wrong. */
const LATER_MS = 10_000;
/** Nothing of ours is to be seen in a program but names: Pi lists files, Gemini CLI its hooks. */
const OURS = /rollcall(?!\.ts| hook gemini)|hook (?:error|failed)/iu;

interface Moment {
  /** Ends when the program's screen shows that it has happened. */
  readonly act: () => Promise<void> | void;
  readonly rows: readonly ExpectedRow[];
  /** Where the program gives no evidence sooner, and its cell names that. */
  readonly withinMs?: number;
  /** What it was shown as just before: the row may get there once more, and back in time. */
  readonly before?: ExpectedRow;
}

export interface StageOptions {
  /** What its rows are named after. */
  readonly program: string;
  /** The folder of its npm package. */
  readonly folder: string;
  /** Whether the machine reports to a team's daemon, whose rows then count. */
  readonly isOutpost: boolean;
  readonly onCell: (cell: Cell) => void;
  readonly onOmission: (omission: Omission) => void;
}

export class Stage implements AsyncDisposable {
  readonly home = realpathSync(mkdtempSync(join(tmpdir(), "hosts-")));
  readonly project = join(this.home, "project");
  readonly folder: string;
  /** The folder of Rollcall's own package. */
  readonly rollcall = root;
  readonly model: Model;
  readonly #onCell: StageOptions["onCell"];
  readonly #onOmission: StageOptions["onOmission"];
  #env: NodeJS.ProcessEnv;
  #daemon: Daemon | undefined;
  #team: Daemon | undefined;
  #fleet: Fleet | undefined;
  #tmux: Tmux | undefined;

  private constructor({ folder, onCell, onOmission }: StageOptions, model: Model) {
    this.folder = folder;
    this.model = model;
    this.#onCell = onCell;
    this.#onOmission = onOmission;
    const bin = join(this.home, "bin");
    this.#env = {
      // Nothing of this machine's own settings but what a program cannot do without.
      PATH: [bin, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(":"),
      HOME: this.home,
      LANG: "C.UTF-8",
      TERM: "xterm-256color",
      SHELL: "/bin/bash",
    };
    for (const path of [bin, this.project]) mkdirSync(path);
    symlinkSync(join(root, "dist/bin/rollcall.cjs"), join(bin, "rollcall"));
  }

  static async open(options: StageOptions): Promise<Stage> {
    const stage = new Stage(options, await startModel());
    const joining = options.isOutpost ? await stage.#startTeam() : {};
    const daemon = await Daemon.start({ env: { ...stage.env, ...joining }, cwd: stage.home });
    stage.#daemon = daemon;
    stage.tellAll({ ROLLCALL_URL: daemon.url });
    const statusFolder = join(stage.home, ".local/state/agent-status");
    const url = stage.#team?.url ?? daemon.url;
    stage.#fleet = new Fleet(url, options.program, statusFolder);
    return stage;
  }

  /** A daemon for the one of this machine to report to; the settings by which it does. */
  async #startTeam(): Promise<NodeJS.ProcessEnv> {
    const folder = join(this.home, "team");
    mkdirSync(folder);
    const settings = { ROLLCALL_DATA_DIR: join(folder, "data"), ROLLCALL_NODE: "hq" };
    const env = { ...this.#env, HOME: folder, ...settings };
    this.#team = await Daemon.start({ env, cwd: folder });
    const words = ["tokens", "create", "box", "--role", "outpost", "--host", "box"];
    const [node = "", program = ""] = ROLLCALL;
    const { stdout } = spawnSync(node, [program, ...words], { env, encoding: "utf8" });
    const file = this.write("team/box.token", stdout);
    return { ROLLCALL_JOIN: this.#team.url, ROLLCALL_TOKEN_FILE: file };
  }

  get env(): NodeJS.ProcessEnv {
    return this.#env;
  }

  /** For all that is started from now on. */
  tellAll(more: NodeJS.ProcessEnv): void {
    this.#env = { ...this.#env, ...more };
  }

  /** A file in the home folder. */
  write(name: string, content: string | object): string {
    const path = join(this.home, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
    return path;
  }

  /** Makes its sessions show up. The result takes that back, and its settings must be as before. */
  install(agent: string): () => void {
    const { path } = agentNamed(agent).install.standing({
      env: this.#env,
      home: this.home,
      project: undefined,
      programs: join(root, "dist/bin"),
      node: process.execPath,
    });
    const before = readIfThere(path);
    this.run("rollcall", "hooks", "install", agent, "--yes");
    return () => {
      this.run("rollcall", "hooks", "uninstall", agent, "--yes");
      this.check("uninstalled without a trace", () => {
        const after = readIfThere(path);
        return after === before ? undefined : `${path} was ${before} and is ${after}`;
      });
    };
  }

  /** What the command says; it must end well. */
  run(program: string, ...words: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(program, words, {
      env: this.#env,
      cwd: this.project,
      encoding: "utf8",
    });
    if (status === 0) return stdout;
    throw new Error(`${program} ${words.join(" ")} ended with ${status}: ${stdout}${stderr}`);
  }

  /** The same, beside all else. */
  async background(program: string, ...words: readonly string[]): Promise<void> {
    await once(this.start(program, ...words), "exit");
  }

  start(program: string, ...words: readonly string[]): ChildProcess {
    return spawn(program, words, { env: this.#env, cwd: this.project, stdio: "ignore" });
  }

  /** Until the rows are as wanted. */
  async settled(...wanted: readonly ExpectedRow[]): Promise<void> {
    const look = async () => areAsExpected(await this.rows(), wanted) || undefined;
    await until("rows", look, { withinMs: START_MS });
  }

  terminal(command: string): Terminal {
    this.#tmux ??= new Tmux(join(this.home, "tmux"), this.#env);
    return this.#tmux.open(command, this.project);
  }

  async rows(): Promise<readonly ShownRow[]> {
    return (await this.#fleet?.rows()) ?? [];
  }

  async moment(name: string, { act, rows, withinMs = WITHIN_MS, before }: Moment): Promise<void> {
    const isLate = withinMs > WITHIN_MS;
    const cell = { moment: name, expected: inWords(rows), ...(isLate && { withinMs }) };
    const known = new Set((await this.rows()).map(({ id }) => id));
    const actedAt = performance.now();
    try {
      await act();
    } catch (error) {
      const problem = `never came: ${error instanceof Error ? error.message : String(error)}`;
      this.#onCell({ ...cell, afterMs: 0, problem });
      return;
    }
    const actMs = Math.round(performance.now() - actedAt);
    const ours = this.#screens().find((screen) => OURS.test(screen));
    if (ours !== undefined)
      this.#onCell({ ...cell, afterMs: 0, problem: `on the screen:\n${ours}` });
    const startedAt = performance.now();
    const sinceMs = () => performance.now() - startedAt;
    let shown: readonly ShownRow[] = [];
    const isRight = async () => areAsExpected((shown = await this.rows()), rows, known);
    const isWrong = async () => !(await isRight());
    const isStillBefore = () =>
      before !== undefined && sinceMs() < withinMs && areAsExpected(shown, [before]);
    let afterMs = 0;
    do {
      const leftMs = withinMs - sinceMs();
      const isInTime =
        (await holds(isRight, leftMs)) || (await holds(isRight, nodeStartMs(this.#env)));
      afterMs = sinceMs();
      if (isInTime) continue;
      const seen = inWords(shown);
      const later = (await holds(isRight, LATER_MS))
        ? `right after ${Math.round(sinceMs())} ms`
        : "wrong later";
      return this.#wrong({ ...cell, afterMs }, `saw ${seen}, ${later}`);
    } while ((await holds(isWrong, STEADY_MS)) && isStillBefore());
    if (!areAsExpected(shown, rows, known)) {
      const times = `${Math.round(sinceMs())} ms after the moment, which took ${actMs} ms`;
      return this.#wrong({ ...cell, afterMs }, `changed to ${inWords(shown)}: ${times}`);
    }
    this.#onCell({ ...cell, afterMs });
  }

  #wrong(cell: Cell, problem: string): void {
    this.#onCell({ ...cell, problem: [problem, ...this.#screens()].join("\n") });
  }

  #screens(): readonly string[] {
    try {
      return this.#tmux?.screens() ?? [];
    } catch {
      // The last terminal was closed, or one was while it was looked at.
      return [];
    }
  }

  leaveOut(moment: string, reason: string): void {
    this.#onOmission({ moment, reason });
  }

  /** A cell that is no row: something that must be so. */
  check(name: string, isSo: () => string | undefined): void {
    const problem = isSo();
    this.#onCell({
      moment: name,
      expected: "so",
      afterMs: 0,
      ...(problem !== undefined && { problem }),
    });
  }

  checkHookCost(host: string): void {
    const { processor, clock } = hookCost(host, this.#env);
    const name = `a hook: ${processor.toFixed(2)} × bare Node, ${clock.toFixed(2)} × by the clock`;
    this.check(name, () => (processor <= HOOK_COST ? undefined : `more than ${HOOK_COST} ×`));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#tmux?.[Symbol.dispose]();
    await this.#fleet?.[Symbol.asyncDispose]();
    await this.#daemon?.[Symbol.asyncDispose]();
    await this.#team?.[Symbol.asyncDispose]();
    this.model[Symbol.dispose]();
    // What the program left behind may still write, and ends with the namespace.
    if (!process.env["HOSTS_KEEP"])
      rmSync(this.home, { recursive: true, force: true, maxRetries: 20 });
  }
}

/** Whether it is so at some moment within that time. */
async function holds(isSo: () => Promise<boolean>, withinMs: number): Promise<boolean> {
  const look = async () => (await isSo()) || undefined;
  return until("it", look, { withinMs }).then(
    () => true,
    () => false,
  );
}
