/**
 * An A2A agent: it publishes its card under its own URL, and says to the registry that it is there.
 * REGISTRY_URL names the registry; that it is a Rollcall is nothing it knows.
 */
import { createServer } from "node:http";
import { RegistryClient } from "rollcall/a2a";

const server = createServer((request, response) => {
  const isCard = request.url === "/.well-known/agent-card.json";
  response.writeHead(isCard ? 200 : 404, { "content-type": "application/json" });
  response.end(isCard ? JSON.stringify(card) : "{}");
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(undefined)));
const address = /** @type {import("node:net").AddressInfo} */ (server.address());
const url = `http://127.0.0.1:${address.port}`;

/** @type {import("rollcall/a2a").AgentCard} */
const card = {
  name: "Translator",
  description: "Translates product texts into French and German",
  supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
  version: "1.0.0",
  skills: [{ id: "translate", name: "Translation", tags: ["french", "german"] }],
};
const client = new RegistryClient(card, {
  intervalS: 10,
  onHeartbeat: ({ verified }) => {
    if (verified) process.stdout.write(`verified ${url}\n`);
  },
});
client.start();
process.stdin.on("end", () => process.exit(0)).resume();
