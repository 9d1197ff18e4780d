import { afterEach, beforeEach, expect, test } from "vitest";
import { connectedTo, openGround, type TestGround } from "../../../test/support/mcp/fixture.ts";
import { byOf, LIBRARY } from "../../core/by.ts";
import { DEFAULT_NAMESPACE } from "../../core/principals.ts";

const URL_LISTED = "http://echo.test/a2a";
const OTHER = "http://other.test/a2a";

const CI = byOf(
  { kind: "agent", namespace: DEFAULT_NAMESPACE, name: "token:ci", roles: ["agent"] },
  "mcp",
);

let ground: TestGround;

beforeEach(async () => {
  ground = await openGround();
  for (const url of [URL_LISTED, OTHER]) {
    ground.directory.put({ url, tier: "reachable", card: { name: "Echo", url } });
  }
});

afterEach(() => ground.close());

async function deny(resource: string): Promise<void> {
  const about = { id: "dir", subject: "token:ci", action: "directory.read" } as const;
  const policy = { ...about, resource, effect: "deny" } as const;
  await ground.engine.execute({ type: "policy.set", policy }, LIBRARY);
}

/** The answers of what reads the directory, as text; its refusals, too. */
async function read() {
  const client = await connectedTo(ground, "legacy", CI);
  const tool = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));
  const resource = async (url: string) => {
    const uri = `a2a://agents/${encodeURIComponent(url)}`;
    return JSON.stringify(await client.readResource({ uri }).catch(String));
  };
  const found = await tool("find_agents", { query: "echo" });
  const listed = await tool("get_agent", { agent: URL_LISTED });
  const other = await tool("get_agent", { agent: OTHER });
  const answers = { found, listed, other, card: await resource(URL_LISTED) };
  await client.close();
  return answers;
}

const DENIED = /may not directory\.read .*denied by policy/;

test("a caller that is denied the directory gets none of its entries by a tool", async () => {
  const before = await read();
  expect(before.found).toContain(URL_LISTED);
  expect(before.listed).toContain('"name":"Echo"');
  await deny("*");
  const { found, listed, other } = await read();
  expect(found).toContain("0 agents found");
  expect(found).not.toContain(URL_LISTED);
  for (const each of [listed, other]) expect(each).toMatch(DENIED);
});

test("a caller that is denied one entry gets all others, by its url, as over HTTP", async () => {
  expect((await read()).card).toContain("Echo");
  await deny(`directory:${URL_LISTED}`);
  const { found, listed, other, card } = await read();
  // A denial of one is none of the list.
  expect(found).toContain(URL_LISTED);
  expect(listed).toMatch(DENIED);
  expect(card).toMatch(DENIED);
  expect(other).toContain('"name":"Echo"');
});
