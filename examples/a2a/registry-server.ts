/** A registry on port 8000 (or PORT): agents of this machine send it heartbeats. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { RegistryServer } from "rollcall/a2a";

// It fetches each agent's own card, and only from the internet unless told otherwise.
const registry = new RegistryServer({ reach: { allowsLoopback: true } });
const server = createServer(registry.mount.node());
server.listen(Number(process.env["PORT"] ?? 8000), "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  console.log(`http://127.0.0.1:${port}/.well-known/agents lists the agents`);
});
