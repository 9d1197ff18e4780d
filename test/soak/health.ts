/**
 * How long /healthz takes, while the daemon may be expected to answer. A bare server of Node is
 * asked as often: what that takes is the machine's, not the daemon's.
 */
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { SoakDaemon } from "./daemon.ts";

const PROBE = fileURLToPath(new URL("probe.mjs", import.meta.url));
const BARE = `
  const server = require("node:http").createServer((_, response) => response.end("ok"));
  server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

/** The daemon as it is asked until the next era. */
export interface Subject {
  readonly era: number;
  readonly pid: number;
  readonly url: string;
  readonly bareUrl: string;
}

interface Answer {
  readonly era: number;
  readonly tookMs: number;
  /** How long the daemon's main thread worked before it came to the request. */
  readonly workMs: number;
  readonly bareMs: number;
}

export class Health implements Disposable {
  readonly #bare: ChildProcess = spawn(process.execPath, ["-e", BARE]);
  readonly #probe: ChildProcess = fork(PROBE, { execArgv: [] });
  readonly #answers: Answer[] = [];

  /** Asks from now on. */
  async probe(daemon: SoakDaemon): Promise<void> {
    const [port] = (await once(this.#bare.stdout ?? this.#bare, "data")) as [Buffer];
    const bareUrl = `http://127.0.0.1:${Number(port.toString())}/`;
    this.#probe.on("message", (answer: Answer) => {
      // Unless it was killed, stopped or made to collect its garbage meanwhile.
      if (answer.era === daemon.era) this.#answers.push(answer);
    });
    daemon.onTurn = (isUp) => {
      const { era, pid, url } = daemon;
      const subject: Subject = { era, pid, url: `${url}/healthz`, bareUrl };
      // At the end it may be gone already, and not known to be.
      if (this.#probe.connected) this.#probe.send(isUp ? { subject } : {}, () => undefined);
    };
    daemon.onTurn(daemon.isUp);
  }

  /** In milliseconds: by the clock, at work, and of the bare server. */
  get p99() {
    const of = (field: Exclude<keyof Answer, "era">) =>
      p99Of(this.#answers.map((answer) => answer[field]));
    const [took, work, bare] = [of("tookMs"), of("workMs"), of("bareMs")];
    return { took, work, bare, probes: this.#answers.length };
  }

  [Symbol.dispose](): void {
    this.#bare.kill("SIGKILL");
    this.#probe.kill("SIGKILL");
  }
}

function p99Of(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length * 0.99)] ?? 0);
}
