/**
 * Load from a client that is not Node's: h2load sends one prepared body again and again and writes
 * down how long each answer took.
 */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { framed } from "../../src/net/grpc/frames.ts";
import type { Measured } from "../measure.ts";

export interface Load {
  readonly origin: string;
  readonly path: string;
  /** The one request, unframed. */
  readonly body: Uint8Array;
  /** How many calls are open at any time. */
  readonly callers: number;
  readonly requests: number;
}

const CONNECTIONS = 8;
const run = promisify(execFile);

export async function h2load(folder: string, load: Load): Promise<Measured> {
  const [body, log] = [join(folder, "body"), join(folder, "latencies")];
  writeFileSync(body, framed(load.body));
  rmSync(log, { force: true });
  const { stdout } = await run("h2load", [
    `--clients=${CONNECTIONS}`,
    `--max-concurrent-streams=${load.callers / CONNECTIONS}`,
    `--requests=${load.requests}`,
    `--data=${body}`,
    `--log-file=${log}`,
    "--header=content-type: application/grpc",
    "--header=te: trailers",
    `${load.origin}${load.path}`,
  ]);
  const rate = Number(/finished in .*, ([\d.]+) req\/s/.exec(stdout)?.[1]);
  const succeeded = Number(/(\d+) succeeded/.exec(stdout)?.[1]);
  if (succeeded !== load.requests) throw new Error(`${load.path} failed under load:\n${stdout}`);
  return { perSecond: rate, p99Ms: p99(readFileSync(log, "utf8")) };
}

/** Each line: when it began, the HTTP status, how many microseconds it took. */
function p99(log: string): number {
  const times = log
    .trimEnd()
    .split("\n")
    .map((line) => Number(line.split("\t")[2]))
    .toSorted((a, b) => a - b);
  return (times[Math.floor(times.length * 0.99)] ?? NaN) / 1000;
}
