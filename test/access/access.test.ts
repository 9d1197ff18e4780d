/**
 * Which caller may make which call, asked of one real daemon at its real doors. The calls are those
 * that the doors were told to serve; the answers are in table.txt, where a change of what a role
 * may do shows as a difference to be reviewed (`npx vitest run test/access -u`, as root, writes it
 * anew).
 */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROLES } from "../../src/core/principals.ts";
import { EVENT_KINDS } from "../../src/operations/sight.ts";
import { ArcpClient } from "../../src/wires/arcp/client/client.ts";
import { cardOf } from "../support/directory/fixture.ts";
import { askArcp, askGrpc, askHttp, askMcp, askWatch, mcpClient, type Target } from "./asking.ts";
import { startHosting, type HostingDaemon } from "./daemon.ts";
import { isRoot, otherUser } from "./other-user.ts";
import { listenToDoors, type Served } from "./served.ts";

/** `nobody` presents a token that no daemon gave it, the other user of the machine none. */
const OTHER_USER = "other user";
const CALLERS = ["nobody", ...ROLES, OTHER_USER] as const;

/** A job gets a credential from a provisioner, and only members forward requests: none is here. */
const KINDS = EVENT_KINDS.filter((kind) => kind !== "credential" && kind !== "request");

type Caller = Readonly<Record<string, unknown>>;

let daemon: HostingDaemon;
let served: Served;

beforeAll(async () => {
  const told = listenToDoors();
  daemon = await startHosting();
  served = told();
  await makeEvents();
});

afterAll(() => daemon.close());

async function post(path: string, body: object, { secret }: Caller = {}): Promise<Caller> {
  const headers = {
    "content-type": "application/json",
    ...(typeof secret === "string" && { authorization: `Bearer ${secret}` }),
  };
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return (await (await fetch(daemon.url + path, init)).json()) as Record<string, unknown>;
}

/** One event of each kind at least, by the user that runs the daemon. */
async function makeEvents(): Promise<void> {
  const arcp = await ArcpClient.connect(`${daemon.url.replace("http", "ws")}/arcp`, { token: "x" });
  const job = await arcp.submit({ agent: "steps", input: {} });
  await job.cancel();
  await arcp.close();
  const { agent } = await post("/v1/agents/register", { card: { name: "a", version: "1" } });
  const { agentId } = agent as { readonly agentId: string };
  await post("/v1/leases/acquire", { taskId: "k", agentId });
  await post("/v1/elections/campaign", { group: "g", agentId });
  const rule = { subject: "x", action: "x", resource: "x", effect: "deny" };
  await post("/v1/policies/set", { id: "p", ...rule });
  await post("/v1/tasks/create", { type: "t" });
  await post("/registry/heartbeat", { agent_card: cardOf("http://127.0.0.1:9/"), interval: 30 });
  const question = { kind: "text", text: "?", sinceMs: Date.now() };
  const facts = {
    liveness: { value: "alive", rule: "r" },
    question: { rule: "r", value: question },
  };
  await post("/v1/fleet/reports", { alias: "script:x", agentId: "x", links: [], facts });
  const far = await post("/v1/tokens/create", { name: "far", role: "outpost", host: "far" });
  const machine = { instance: "i", machine: "m", version: "1", share: "all", accept: "nothing" };
  const joined = await post("/v1/outposts/join", { ...machine, clockMs: Date.now() }, far);
  expect(joined).toMatchObject({ host: "far" });
}

async function secretFor(role: string): Promise<string> {
  if (role === "nobody") return "rollcall_nobody";
  const body = { name: role, role, ...(role === "outpost" && { host: "box" }) };
  return (await post("/v1/tokens/create", body))["secret"] as string;
}

/** All tools and resources, as an admin is told of them. */
async function mcpSurface(admin: Target) {
  const client = await mcpClient(admin);
  const { tools = [] } = (await client?.listTools()) ?? {};
  const { resources = [] } = (await client?.listResources()) ?? {};
  await client?.close();
  return { tools: tools.map(({ name }) => name), resources: resources.map(({ uri }) => uri) };
}

test("each caller may make the calls of its table, and no others", async () => {
  const { url, grpcAddress } = daemon;
  const targets = new Map<string, Target>();
  for (const role of ["nobody", ...ROLES]) {
    targets.set(role, { url, grpcAddress, token: await secretFor(role) });
  }
  using other = isRoot ? await otherUser(daemon) : undefined;
  if (other) targets.set(OTHER_USER, { ...other, token: "" });
  const admin = targets.get("admin");
  if (!admin) throw new Error("there is no admin");
  const surface = await mcpSurface(admin);
  const answers = new Map<string, string[]>();
  for (const target of targets.values()) {
    const all = [
      // First: a task that it claims, or a session that it opens, is its own.
      ...(await askWatch(target, KINDS)),
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
  const file = new URL("table.txt", import.meta.url);
  if (isRoot) await expect(tableOf(answers)).toMatchFileSnapshot(file.pathname);
  else expect(tableOf(answers)).toBe(withoutLastColumn(readFileSync(file, "utf8")));
});

function tableOf(answers: ReadonlyMap<string, readonly string[]>): string {
  const width = Math.max(...Array.from(answers.keys(), (call) => call.length));
  const line = (call: string, cells: readonly string[]) =>
    `${call.padEnd(width)}  ${cells.map((cell) => cell.padEnd(8)).join("  ")}`.trimEnd();
  const rows = Array.from(answers, ([call, cells]) => line(call, cells)).toSorted();
  const callers = isRoot ? CALLERS : CALLERS.slice(0, -1);
  return `${[line("", callers), ...rows].join("\n")}\n`;
}

function withoutLastColumn(table: string): string {
  const at = table.indexOf(OTHER_USER);
  return table.replaceAll(/^.*$/gm, (line) => line.slice(0, at).trimEnd());
}
