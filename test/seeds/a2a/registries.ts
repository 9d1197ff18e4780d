/** The registries that the page of oo-a2a-registry is held against: its own servers, and ours. */
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { A2A_01_PYTHON, A2A_02_PYTHON } from "../../../scripts/prerequisites.mjs";
import { environment, Running, start } from "../../e2e/programs.ts";
import type { Card } from "./site.ts";

const SCRIPTS = fileURLToPath(new URL("../../peers/a2a/", import.meta.url));
const ENV = environment(tmpdir(), { PYTHONDONTWRITEBYTECODE: "1" });
const AGENTS = "/.well-known/agents";

/** The generations of the client, and where each sends its heartbeats. */
export const CLIENTS = {
  "0.1.0": { python: A2A_01_PYTHON, path: "/registry/heartbeat" },
  "0.2.0": { python: A2A_02_PYTHON, path: `${AGENTS}/heartbeat` },
} as const;

export type Generation = keyof typeof CLIENTS;

export interface Registry extends AsyncDisposable {
  readonly url: string;
}

export async function ours(): Promise<Registry> {
  const running = start(["a2a-registry", "--port", "0"]);
  const [, url = ""] = await running.says(/HTTP +(http:\S+)[^]*only this machine/);
  return { url, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

/** The first generation came without a server to run it: it borrows that of the second. */
export async function theirs(version: Generation): Promise<Registry> {
  const library = join(A2A_01_PYTHON, "../../lib");
  const packages = join(library, readdirSync(library)[0] ?? "", "site-packages");
  const env = version === "0.1.0" ? { ...ENV, PYTHONPATH: packages } : ENV;
  const running = new Running(A2A_02_PYTHON, [join(SCRIPTS, "server.py"), version], env);
  const [url = ""] = await running.says(/http:\S+/);
  return { url, [Symbol.asyncDispose]: () => running[Symbol.asyncDispose]() };
}

export function python(version: Generation, ...args: readonly string[]): Running {
  return new Running(CLIENTS[version].python, args, ENV);
}

/** What the real client learns of one heartbeat for each card: verified or not, the interval. */
export async function sendOnce(version: Generation, registry: string, cards: readonly Card[]) {
  const told = JSON.stringify({ registry, cards, options: {} });
  await using running = python(version, join(SCRIPTS, "send.py"), told);
  const { code, stdout, stderr } = await running.end();
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as readonly (readonly [verified: boolean, interval: number] | null)[];
}

/** The real client in the background, until it is disposed of; it wants to speak every second. */
export function stay(version: Generation, registry: string, card: Card): Running {
  return python(version, join(SCRIPTS, "stay.py"), JSON.stringify({ registry, card }));
}

export function post(registry: string, path: string, body: unknown): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(registry + path, { method: "POST", headers, body: JSON.stringify(body) });
}

export async function listed(registry: string): Promise<readonly Card[]> {
  return (await (await fetch(registry + AGENTS)).json()) as Card[];
}
