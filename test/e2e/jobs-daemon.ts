/** A daemon with agents of its own, that may be killed, and somebody who follows its jobs. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import type { JobSummary } from "../../src/core/job-listing.ts";
import type { RowJob } from "../../src/fleet/job-agents.ts";
import type { Row } from "../../src/fleet/row.ts";
import { run, scratch, start, type Ended, type Running } from "./programs.ts";

const AGENTS = fileURLToPath(new URL("agents/", import.meta.url));

/** What the bus tells of a job that runs and ends. */
export const WHOLE = ["job.submitted", "job.ended"];

const CONFIG = `
[agents.echo]
module = ${JSON.stringify(join(AGENTS, "echo.mjs"))}

[agents."steps@1.0.0"]
module = ${JSON.stringify(join(AGENTS, "steps.mjs"))}

[agents."steps@2.0.0"]
module = ${JSON.stringify(join(AGENTS, "steps.mjs"))}
restart = "always"

[agents.worker]
command = [${JSON.stringify(process.execPath)}, ${JSON.stringify(join(AGENTS, "worker.mjs"))}]
env = { GREETING = "hello" }
`;

export class JobsDaemon implements AsyncDisposable {
  readonly #folder: string;
  readonly #more: string;
  #bus: Running | undefined;
  readonly #started: Running[] = [];
  url = "";
  arcpUrl = "";

  constructor(folder: string, more: string) {
    this.#folder = folder;
    this.#more = more;
  }

  async start(httpPort = "0"): Promise<this> {
    const config = join(this.#folder, "rollcall.toml");
    writeFileSync(config, CONFIG + this.#more);
    mkdirSync(join(this.#folder, "data"), { recursive: true });
    const args = ["--addr", ":0", "--http-addr", `:${httpPort}`, "--arcp-addr", ":0"];
    const where = ["--data-dir", join(this.#folder, "data"), "--config", config, "--node", "n1"];
    const env = { ROLLCALL_SECRET: "s3cr3t" };
    this.#started.push(start(["up", ...args, ...where, "--no-status-files"], { env }));
    const [, http = ""] = await this.up.says(/HTTP +(http:\S+)[^]*only this machine/);
    [, this.arcpUrl = ""] = await this.up.says(/ARCP +(ws:\S+)/);
    this.url = http;
    this.#bus ??= start(["events", "--url", http, "--from", "0", "--topic", "job.", "--json"]);
    return this;
  }

  get up(): Running {
    const last = this.#started.at(-1);
    if (!last) throw new Error("not started");
    return last;
  }

  /** Dies, and comes back at the same address. */
  async kill(): Promise<void> {
    this.up.signal("SIGKILL");
    await this.up.end();
    await this.start(new URL(this.url).port);
  }

  rollcall(...args: readonly string[]): Promise<Ended> {
    return run([...args, "--url", this.url]);
  }

  async json<T>(...args: readonly string[]): Promise<T> {
    const { code, stdout, stderr } = await this.rollcall(...args, "--json");
    if (code !== 0) throw new Error(`${args.join(" ")}: ${stderr}`);
    return JSON.parse(stdout) as T;
  }

  async row(id: string): Promise<Row | undefined> {
    const { rows } = await this.json<{ rows: Row[] }>("ls", "--all");
    return rows.find((row) => row.id === id);
  }

  /** A job as it stands in the row of its agent. */
  async rowJob(jobId: string): Promise<RowJob | undefined> {
    const { rows } = await this.json<{ rows: Row[] }>("ls", "--all");
    return rows.flatMap(({ jobs }) => jobs?.newest ?? []).find(({ id }) => id === jobId);
  }

  async jobs(): Promise<readonly JobSummary[]> {
    const answer = await fetch(`${this.url}/v1/jobs`);
    return ((await answer.json()) as { jobs: JobSummary[] }).jobs;
  }

  /** Topics of a job as somebody hears them who follows the bus all the time. */
  topics(jobId: string): readonly string[] {
    const events = (this.#bus?.stdout ?? "")
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line) as { topic: string; job?: { id: string } });
    return events.filter(({ job }) => job?.id === jobId).map(({ topic }) => topic);
  }

  connect(): Promise<ArcpClient> {
    return ArcpClient.connect(`${this.url.replace("http", "ws")}/arcp`, { token: "anything" });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of [...this.#started, this.#bus]) await each?.[Symbol.asyncDispose]();
  }
}

/** Gone after the test; `more` is added to its config file. */
export async function jobsDaemon(more = ""): Promise<JobsDaemon> {
  const folder = scratch();
  const daemon = new JobsDaemon(folder.path, more);
  onTestFinished(async () => {
    await daemon[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });
  return daemon.start();
}
