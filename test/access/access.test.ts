/**
 * Which caller may make which call, asked of one real daemon at its real doors. The calls are those
 * that the doors were told to serve; the answers are in table.txt, where a change of what a role
 * may do shows as a difference to be reviewed (`npx vitest run test/access -u` writes it anew).
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startEmbedded, type Embedded } from "../../src/embedded.ts";
import { ROLES } from "../../src/core/principals.ts";
import { askArcp, askGrpc, askHttp, askMcp, exampleOf, mcpClient, type Target } from "./asking.ts";
import { listenToDoors, type Served } from "./served.ts";

/** `nobody` presents a token that no daemon gave it. */
const CALLERS = ["nobody", ...ROLES] as const;

let daemon: Embedded;
let served: Served;

beforeAll(async () => {
  const told = listenToDoors();
  daemon = await startEmbedded();
  served = told();
});

afterAll(() => daemon.close());

async function secretFor(role: string): Promise<string> {
  if (role === "nobody") return "rollcall_nobody";
  const body = JSON.stringify({ name: role, role, ...(role === "outpost" && { host: "box" }) });
  const headers = { "content-type": "application/json" };
  const answer = await fetch(`${daemon.url}/v1/tokens/create`, { method: "POST", headers, body });
  return ((await answer.json()) as { secret: string }).secret;
}

async function targetFor(role: string): Promise<Target> {
  const { url, grpcAddress } = daemon;
  return { url, grpcAddress, token: await secretFor(role) };
}

/** All tools and resources, as an admin is told of them. */
async function mcpSurface(admin: Target) {
  const client = await mcpClient(admin);
  const { tools = [] } = (await client?.listTools()) ?? {};
  const { resources = [] } = (await client?.listResources()) ?? {};
  await client?.close();
  return { tools: tools.map(({ name }) => name), resources: resources.map(({ uri }) => uri) };
}

test("each role may make the calls of its table, and no others", async () => {
  const targets = new Map<string, Target>();
  for (const role of CALLERS) targets.set(role, await targetFor(role));
  const admin = targets.get("admin");
  if (!admin) throw new Error("there is no admin");
  const surface = await mcpSurface(admin);
  const answers = new Map<string, string[]>();
  for (const target of targets.values()) {
    const all = [
      ...(await askHttp(target, served.http)),
      ...(await askGrpc(target, served.grpc)),
      ...(await askMcp(target, surface)),
      ...(await askArcp(target)),
    ];
    for (const [call, isAllowed] of all) {
      const row = answers.get(call) ?? [];
      answers.set(call, row);
      row.push(isAllowed ? "yes" : "-");
    }
  }
  await expect(tableOf(answers)).toMatchFileSnapshot("table.txt");
});

/** Only root can become somebody else. */
const OTHER = 65_534;
const isRoot = process.platform === "linux" && process.getuid?.() === 0;

/** Makes every call of HTTP, and tells the status of each. */
const ASK_ALL = `
const { url, calls } = JSON.parse(process.argv[1]);
Promise.all(calls.map(async ({ method, path }) => {
  const answer = await fetch(url + path, { method, ...(method === "POST" && { body: "{}" }) });
  await answer.body?.cancel();
  return [path, answer.status];
})).then((all) => console.log(JSON.stringify(all)));`;

test.runIf(isRoot)("another user of this machine may make none of them", async () => {
  const calls = served.http
    .filter(({ method }) => method !== "UPGRADE")
    .map(({ method, path }) => ({ method, path: exampleOf(path) }));
  const asked = JSON.stringify({ url: daemon.url, calls });
  const options = { uid: OTHER, gid: OTHER, cwd: "/" };
  const { stdout } = await promisify(execFile)(process.execPath, ["-e", ASK_ALL, asked], options);
  const statuses = JSON.parse(stdout) as [path: string, status: number][];
  expect(statuses).toHaveLength(calls.length);
  const open = statuses.filter(([, status]) => status !== 403);
  expect(open).toEqual([
    ["/healthz", 200],
    ["/readyz", 200],
  ]);
});

function tableOf(answers: ReadonlyMap<string, readonly string[]>): string {
  const width = Math.max(...Array.from(answers.keys(), (call) => call.length));
  const line = (call: string, cells: readonly string[]) =>
    `${call.padEnd(width)}  ${cells.map((cell) => cell.padEnd(8)).join("  ")}`.trimEnd();
  const rows = Array.from(answers, ([call, cells]) => line(call, cells)).toSorted();
  return `${[line("", CALLERS), ...rows].join("\n")}\n`;
}
