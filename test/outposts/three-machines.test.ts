/**
 * Three machines with cables between them: the team's daemon, and two outposts whose coding agents
 * are the hooks of a recording. One link goes silent without an end, the other is slow, and all
 * three daemons are killed: the team's fleet is right within 5 s of the link, every question is
 * asked and answered once, and nothing stays behind.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { environment, programFile, run, scratch, start, type Running } from "../e2e/programs.ts";
import { star, type CableToHub, type Machine, type Star } from "../e2e/machines.ts";
import { pairFor } from "../support/tls/pairs.ts";

const RECONNECTED_MS = 5_000;
const HOST = fileURLToPath(new URL("../e2e/fake-host.mjs", import.meta.url));
const RECORDING = new URL("../transcripts/recordings/claude-code-2.1.325.txt", import.meta.url);
const SESSION = "c10c98a1";
const ASKS = ["Bash: touch q1 && sleep 5", "Bash: touch q3 && sleep 1"] as const;

/** The hooks of the recording: up to the first question, the end of that turn and the next one. */
function recordedHooks(): readonly (readonly string[])[] {
  const lines = readFileSync(RECORDING, "utf8").split("\n");
  const hooks = lines.flatMap((line) => /claude-code 200 (\{.*\})$/.exec(line)?.[1] ?? []);
  const scene = (from: string, to: string) => {
    const first = hooks.findIndex((each) => each.includes(from));
    const last = hooks.findIndex((each, i) => i >= first && each.includes(to));
    return hooks.slice(first, last + 1);
  };
  const begins = scene('"SessionStart"', '"PermissionRequest"');
  const ends = scene('"PostToolUse"', '"Stop"');
  return [begins, [...ends, ...scene("[[sh touch q3", '"PermissionRequest"')]];
}

const [FIRST = [], SECOND = []] = recordedHooks();
const home = scratch();
const path = (...parts: readonly string[]) => join(home.path, ...parts);

/** A person's machine: its daemon, and a coding agent that runs its hooks. */
class Laptop {
  readonly name: string;
  readonly cable: CableToHub;
  readonly #env: NodeJS.ProcessEnv;
  #daemon: Running | undefined;
  #host: ChildProcess | undefined;

  constructor(name: string, cable: CableToHub) {
    this.name = name;
    this.cable = cable;
    mkdirSync(path(name));
    const XDG_STATE_HOME = path(name, "state");
    this.#env = {
      ...environment(path(name)),
      XDG_STATE_HOME,
      ROLLCALL_DATA_DIR: path(name, "data"),
    };
  }

  async join(port: string): Promise<void> {
    const team = [
      "--join",
      `https://${this.cable.hubAddress}:${port}`,
      "--join-ca",
      path("cert.pem"),
    ];
    const token = ["--token-file", path(`${this.name}.token`)];
    const doors = ["--addr", ":0", "--http-addr", ":0"];
    const up = this.cable.end.node("rollcall", ["up", ...doors, ...team, ...token], this.#env);
    this.#daemon = up;
    await up.says(/only this machine/);
  }

  async kill(): Promise<void> {
    await this.#daemon?.[Symbol.asyncDispose]();
  }

  /** All of them, one after the other, by the real command. */
  async hooks(payloads: readonly string[]): Promise<void> {
    const { env, command } = { env: this.#env, command: [HOST, process.execPath] };
    const words = [...command, programFile("rollcall"), "hook", "claude-code"];
    this.#host ??= spawn("nsenter", this.cable.end.words(process.execPath, words), {
      env,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const { stdin, stdout } = this.#host;
    if (!stdin || !stdout) throw new Error("no pipes");
    const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
    if (payloads === FIRST) await lines.next();
    for (const payload of payloads) {
      stdin.write(`${payload}\n`);
      const line = await lines.next();
      expect(line.done ? "the host ended" : JSON.parse(line.value)).toMatchObject({ code: 0 });
    }
  }

  endAgent(): void {
    this.#host?.kill("SIGKILL");
  }

  async status(): Promise<string> {
    const { stdout } = await run(["doctor"], { env: this.#env });
    return stdout;
  }
}

describe.runIf(process.platform === "linux")("three machines", () => {
  let machines: Star;
  let team: Running;
  let laptops: readonly Laptop[];
  let port = "0";
  const teamEnv = { ROLLCALL_DATA_DIR: path("team") };

  async function startTeam(hub: Machine): Promise<void> {
    const files = ["--tls-cert", path("cert.pem"), "--tls-key", path("key.pem")];
    const doors = ["--addr", "127.0.0.1:0", "--http-addr", `0.0.0.0:${port}`];
    const rest = ["--node", "hq", "--no-status-files", "--data-dir", path("team")];
    team = hub.node("rollcall", ["up", ...doors, ...files, ...rest]);
    [, port = ""] = await team.says(/HTTP +https:\S+?:(\d+)\s/);
  }

  beforeAll(async () => {
    machines = await star(2);
    const { cert, key } = pairFor(["10.77.0.1", "10.77.1.1"]);
    writeFileSync(path("cert.pem"), cert);
    writeFileSync(path("key.pem"), key, { mode: 0o600 });
    await startTeam(machines.hub);
    laptops = machines.cables.map((cable, i) => new Laptop(["anna", "ben"][i] ?? "", cable));
    for (const { name } of laptops) {
      const words = ["tokens", "create", name, "--role", "outpost", "--host", name];
      const { stdout } = await run(words, { env: teamEnv });
      writeFileSync(path(`${name}.token`), stdout);
    }
    await Promise.all(laptops.map((each) => each.join(port)));
  }, 60_000);

  afterAll(async () => {
    for (const each of laptops) {
      each.endAgent();
      await each.kill();
    }
    await team[Symbol.asyncDispose]();
    machines[Symbol.dispose]();
    home[Symbol.dispose]();
  });

  /** The row of a laptop's agent on the team's daemon, as `ls` prints it. */
  async function teamShows(laptop: Laptop, what: string, timeout = RECONNECTED_MS): Promise<void> {
    await vi.waitFor(
      async () => {
        const { stdout } = await run(["ls", "--all", "--json"], { env: teamEnv });
        const { rows } = JSON.parse(stdout || '{"rows":[]}') as { rows: readonly Row[] };
        const row = rows.find(({ id }) => id === `claude-code-${SESSION}@${laptop.name}`);
        expect(`${row?.headline} ${row?.why}`).toContain(what);
      },
      { timeout },
    );
  }

  interface Row {
    readonly id: string;
    readonly headline: string;
    readonly why: string;
  }

  test("links fail, daemons are killed: the fleet is right, questions come once", async () => {
    const [anna, ben] = laptops;
    if (!anna || !ben) throw new Error("no laptops");
    await Promise.all([anna, ben].map((each) => each.hooks(FIRST)));
    for (const each of [anna, ben]) await teamShows(each, `NEEDS YOU ${ASKS[0]}`, 20_000);
    anna.cable.goSilent();
    ben.cable.goSlow();
    await Promise.all([anna, ben].map((each) => each.hooks(SECOND)));
    await teamShows(ben, `NEEDS YOU ${ASKS[1]}`, 20_000);
    await Promise.all([team[Symbol.asyncDispose](), ben.kill()]);
    await Promise.all([startTeam(machines.hub), ben.join(port)]);
    await vi.waitFor(async () => expect(await anna.status()).toContain("is not reached since"), {
      timeout: 30_000,
    });
    await anna.kill();
    await anna.join(port);
    anna.cable.mend();
    ben.cable.mend();
    await isConnected([anna, ben]);
    for (const each of [anna, ben]) await teamShows(each, `NEEDS YOU ${ASKS[1]}`);
    for (const each of [anna, ben]) each.endAgent();
    for (const each of [anna, ben]) await teamShows(each, "GONE", 20_000);
    expect(await questionsTold()).toEqual(
      ["anna", "ben"].flatMap((host) => [
        `${host}: asked ${ASKS[0]}`,
        `${host}: answered ${ASKS[0]}`,
        `${host}: asked ${ASKS[1]}`,
        `${host}: expired ${ASKS[1]}`,
      ]),
    );
  }, 180_000);

  async function isConnected(all: readonly Laptop[]): Promise<void> {
    await vi.waitFor(
      async () => {
        const { stdout } = await run(["outposts"], { env: teamEnv });
        for (const { name } of all) expect(stdout).toMatch(new RegExp(`^${name} +connected`, "m"));
      },
      { timeout: 30_000 },
    );
  }

  /** Each question of the team's log, in the order of its host. */
  async function questionsTold(): Promise<readonly string[]> {
    const words = ["events", "--from", "0", "--topic", "question.", "--json"];
    await using events = start(words, { env: teamEnv });
    await events.says(/(?:.*\n){8}/);
    const told = events.stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line) as QuestionTold)
      .map(({ topic, question: { agentId, text } }) => {
        const host = agentId.slice(agentId.lastIndexOf("@") + 1);
        return `${host}: ${topic.slice("question.".length)} ${text}`;
      });
    return ["anna", "ben"].flatMap((host) => told.filter((each) => each.startsWith(host)));
  }

  interface QuestionTold {
    readonly topic: string;
    readonly question: { readonly agentId: string; readonly text: string };
  }

  test("nothing stays behind", async () => {
    for (const each of laptops) await each.kill();
    await team[Symbol.asyncDispose]();
    await vi.waitFor(() => expect(processesOf(home.path)).toEqual([]), { timeout: 20_000 });
  }, 60_000);
});

/** The command lines of processes that have to do with a folder. */
function processesOf(folder: string): readonly string[] {
  const read = (file: string) => {
    try {
      return readFileSync(file, "utf8");
    } catch {
      return "";
    }
  };
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => read(`/proc/${pid}/environ`).includes(folder))
    .map((pid) => read(`/proc/${pid}/cmdline`).replaceAll("\0", " "));
}
