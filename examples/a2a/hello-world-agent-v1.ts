/** A Hello World agent of A2A v1.0 on port 8002 (or PORT), in the registry at REGISTRY_URL. */
import { serve } from "./hello-world.ts";

serve({
  port: 8002,
  cardPath: "/.well-known/agent-card.json",
  cardAt: (origin) => ({
    name: "Hello World Agent v1",
    description: "Says hello",
    supportedInterfaces: [
      { url: `${origin}/jsonrpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
    ],
    version: "1.0.0",
    skills: [{ id: "hello_world", name: "Hello World", tags: ["hello"] }],
  }),
  reply: {
    message: { messageId: "hello", role: "ROLE_AGENT", parts: [{ text: "Hello World" }] },
  },
});
