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
  const connections = Math.min(CONNECTIONS, load.callers);
  const { stdout } = await run("h2load", [
    `--clients=${connections}`,
    `--max-concurrent-streams=${load.callers / connections}`,
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
  return { perSecond: rate, ...waits(readFileSync(log, "utf8")) };
}

/** Each line: when it began, the HTTP status, how many microseconds it took. */
function waits(log: string): { readonly p50Ms: number; readonly p99Ms: number } {
  const times = log
    .trimEnd()
    .split("\n")
    .map((line) => Number(line.split("\t")[2]))
    .toSorted((a, b) => a - b);
  const at = (share: number) => (times[Math.floor(times.length * share)] ?? NaN) / 1000;
  return { p50Ms: at(0.5), p99Ms: at(0.99) };
}
