/** Agents find each other: a registry in an app one already has, and an agent that stays in it. */
import assert from "node:assert/strict";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
// #region use
import { RegistryClient, RegistryServer, type AgentCard } from "rollcall/a2a";

// Into Hono, Express or Fastify it goes by mount.hono(), mount.express(), mount.fastify().
// It fetches each agent's own card, and only from the internet unless told otherwise.
await using registry = new RegistryServer({ reach: { allowsLoopback: true } });
const registryUrl = await listen(createServer(registry.mount.node()));

// An agent: it publishes its card at its URL, and says again and again that it is there.
const agentUrl = await listen(createServer((_, response) => publish(response)));
const card: AgentCard = {
  name: "Translator",
  description: "Translates between German and English",
  supportedInterfaces: [{ url: agentUrl, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  version: "1.0.0",
  skills: [{ id: "translate", name: "Translate", tags: ["language"] }],
};
const client = new RegistryClient(card, { registryUrl, intervalS: 30 });
const { verified } = await client.sendOnce();
console.log(verified); // true: the registry has fetched the card itself

// From here to the end of the scope in the background, as often as the registry wants.
await using running = client.start();

// Whoever looks for an agent gets the cards in the version that he reads.
for (const found of await running.list({ version: "0.3" })) console.log(found.name, found.url);
// #endregion

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function publish(response: ServerResponse): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(card));
}

assert.equal(verified, true);
const [listed] = await running.list();
assert.equal(listed?.name, "Translator");
