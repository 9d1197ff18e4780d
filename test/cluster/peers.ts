/**
 * The real clients of others at members of a cluster: what their own suites ask for holds at a
 * member that does not lead, and when the leader is killed they are refused for a moment at most,
 * by a code that says "again", and nothing that they were told is lost or done twice.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
// tidy-allow sleep: clients have a pace
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import {
  A2A_02_PYTHON,
  AGENTKEEPER_PYTHON,
  AGENTKEEPER_TESTS,
  ARCP_PYTHON,
  lacks,
} from "../../scripts/prerequisites.mjs";
import { root } from "../../scripts/root.mjs";
import { environment, Running, scratch } from "../e2e/programs.ts";
import { eventsOf, get, post } from "./http.ts";
import type { MemberProcess, TestCluster } from "./members.ts";

const PEERS = join(root, "test/peers");
const PLUGIN = join(root, "test/seeds/keeper");
const LACKS = ["agentkeeper-sdk", "agentkeeper-tests", "arcp-sdk", "a2a-registry-0.2"].some(lacks);
/** Of a whole suite, on a machine that may be busy. */
const PATIENCE_MS = 60_000;
const PACE_MS = 20;
/** Commands at a member wait for so long for another leader; a caller is not silenced for more. */
const SILENT_MS = 5_000;

/** Each of these wants the daemon for itself, */
const ALONE = ["events", "tasks", "registry", "examples", "find", "policies"];
/** and these need not. */
const TOGETHER = ["leases", "elections"];

/** Registers the tests; the cluster is there when they run, and nobody used it before. */
export function testPeers(cluster: () => TestCluster, { isWhole }: { isWhole: boolean }): void {
  test.skipIf(LACKS)("the Python SDK's own tests pass at a member that does not lead", async () => {
    const follower = await cluster().follower();
    const suite = ["-m", "pytest", "-q", "-p", "here", "-p", "no:cacheprovider"];
    const env = { PYTHONPATH: PLUGIN, ROLLCALL_TEST_PORT: portOf(follower) };
    const said = await finished(keeper([...suite, join(AGENTKEEPER_TESTS, "test_sdk.py")], env));
    expect(said).toContain("18 passed");
    const run = (script: string) =>
      finished(keeper([join(PEERS, `keeper/${script}.py`), portOf(follower)]));
    for (const script of isWhole ? ALONE : ALONE.slice(0, 1)) {
      await clear(follower);
      await run(script);
    }
    await clear(follower);
    if (isWhole) await Promise.all(TOGETHER.map(run));
  });

  test.skipIf(LACKS)("clients of three protocols go on when the leader is killed", async () => {
    const leader = await cluster().leader();
    const [near, far] = cluster().members.filter((member) => member !== leader);
    if (!near || !far) throw new Error("three members were started");
    const calls = keeper([join(PEERS, "keeper/failover.py"), portOf(near), portOf(leader)]);
    const card = await agentCard();
    const beats = a2a([join(PEERS, "a2a/heartbeats.py"), near.url, JSON.stringify(card)]);
    await beats.says(/(?:true[^]*){2}/);
    await calls.says(/begun/);
    const session = arcp([join(PEERS, "arcp/elsewhere.py"), arcpOf(near), arcpOf(far)]);
    const [, job = ""] = await session.says(/begun (\S+)/);
    const listings = watchListing(far, card.url);

    await leader.end();
    expect(await finished(session)).toContain("resumed");
    await leader.start();
    await cluster().settled();
    calls.signal("SIGTERM");
    const outcome = JSON.parse((await finished(calls)).split("\n").at(-2) ?? "") as Outcome;

    expect(outcome.acknowledged).toBeGreaterThan(100);
    // Where it led its connections end; elsewhere calls wait for the next leader.
    expect(Object.keys(outcome.refused)).toEqual(["UNAVAILABLE"]);
    expect(outcome.silentMs).toBeLessThan(SILENT_MS);
    // Nobody's heartbeat was refused, and the agent was listed all the time.
    expect(beats.stdout).not.toContain("false");
    expect(await listings.end()).toEqual([]);
    const ended = (await eventsOf(near, "job.ended")) as { job: { id: string } }[];
    expect(ended.filter((event) => event.job.id === job)).toHaveLength(1);
  });
}

interface Outcome {
  readonly acknowledged: number;
  /** By code. */
  readonly refused: Readonly<Record<string, number>>;
  readonly silentMs: number;
}

function portOf({ grpc }: MemberProcess): string {
  return new URL(`http://${grpc}`).port;
}

function arcpOf({ url }: MemberProcess): string {
  return `${url.replace("http", "ws")}/arcp`;
}

function python(program: string, args: readonly string[], more: NodeJS.ProcessEnv): Running {
  const home = scratch();
  const own = { PYTHONDONTWRITEBYTECODE: "1", ROLLCALL_TEST_FOLDER: home.path, ...more };
  const running = new Running(program, args, environment(home.path, own));
  onTestFinished(async () => {
    await running[Symbol.asyncDispose]();
    home[Symbol.dispose]();
  });
  return running;
}

const keeper = (args: readonly string[], env = {}) => python(AGENTKEEPER_PYTHON, args, env);
const arcp = (args: readonly string[]) => python(ARCP_PYTHON, args, {});
const a2a = (args: readonly string[]) => python(A2A_02_PYTHON, args, {});

/** What it said; it fails the test where it ended with an error. */
async function finished(running: Running): Promise<string> {
  const { code, stdout, stderr } = await running.end(PATIENCE_MS);
  if (code !== 0) throw new Error(`ended with ${code}: ${stdout}${stderr}`);
  return stdout;
}

/** As a daemon that was just started: the scripts expect nobody but themselves. */
async function clear(member: MemberProcess): Promise<void> {
  const { agents } = await get<{ agents: { agentId: string; status: string }[] }>(
    member,
    "/v1/agents",
  );
  for (const { agentId } of agents.filter(({ status }) => status !== "dead")) {
    await post(member, "/v1/agents/deregister", { agentId });
  }
  const { policies } = await get<{ policies: { id: string }[] }>(member, "/v1/policies");
  for (const { id } of policies) await post(member, "/v1/policies/delete", { id });
}

/** Of an agent that publishes it. */
async function agentCard(): Promise<{ readonly name: string; readonly url: string }> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify(card));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const card = {
    name: "steady",
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  return card;
}

/** Lists the agents of a member again and again; the end gives the answers that lack one. */
function watchListing(member: MemberProcess, url: string): { end(): Promise<readonly string[]> } {
  const over = new AbortController();
  const look = async () => {
    const wrong: string[] = [];
    while (!over.signal.aborted) {
      const answer = await fetch(`${member.url}/.well-known/agents`);
      const text = await answer.text();
      if (!text.includes(url)) wrong.push(`${answer.status} ${text}`);
      await pause(PACE_MS);
    }
    return wrong;
  };
  const looking = look().catch((error: unknown) => [String(error)]);
  const end = () => {
    over.abort();
    return looking;
  };
  onTestFinished(async () => void (await end()));
  return { end };
}
