/** HTTP/1.1 load from a client that is not Node's, and how long each answer took. */
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Measured } from "../measure.ts";

export interface Load {
  readonly url: string;
  /** Makes it a POST. */
  readonly body?: string;
  readonly requests: number;
}

const CONNECTIONS = 32;
const run = promisify(execFile);

export async function load(folder: string, { url, body, requests }: Load): Promise<Measured> {
  const [file, log] = [join(folder, "body"), join(folder, "latencies")];
  rmSync(log, { force: true });
  if (body !== undefined) writeFileSync(file, body);
  const { stdout } = await run("h2load", [
    "--h1",
    `--clients=${CONNECTIONS}`,
    `--requests=${requests}`,
    `--log-file=${log}`,
    ...(body === undefined ? [] : [`--data=${file}`, "--header=content-type: application/json"]),
    url,
  ]);
  const succeeded = Number(/(\d+) succeeded/.exec(stdout)?.[1]);
  if (succeeded !== requests) throw new Error(`${url} failed under load:\n${stdout}`);
  const perSecond = Number(/finished in .*, ([\d.]+) req\/s/.exec(stdout)?.[1]);
  return { perSecond, p99Ms: p99(readFileSync(log, "utf8")) };
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
