/** A Hello World agent of A2A v0.3 on port 8001 (or PORT), in the registry at REGISTRY_URL. */
import { serve } from "./hello-world.ts";

serve({
  port: 8001,
  cardPath: "/.well-known/agent.json",
  cardAt: (url) => ({
    name: "Hello World Agent",
    description: "Says hello",
    url,
    protocolVersion: "0.3.0",
    version: "1.0.0",
    skills: [{ id: "hello_world", name: "Hello World", tags: ["hello"] }],
  }),
  reply: {
    kind: "message",
    messageId: "hello",
    role: "agent",
    parts: [{ kind: "text", text: "Hello World" }],
  },
});
