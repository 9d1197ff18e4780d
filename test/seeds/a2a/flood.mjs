/**
 * Heartbeats of agents that never were, from a process of its own: flood.mjs REGISTRY COUNT REST
 * ORIGIN…. Each is sent once, 400 at a time. It says "hanging" when all but REST of them were
 * answered. An ORIGIN that ends with a slash is that of one agent, whose heartbeats all are.
 */
import { Agent, request } from "node:http";

const [registry = "", count = "", rest = "", ...origins] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true, maxSockets: 400 });
const headers = { "content-type": "application/json" };
const heartbeats = `${registry}/.well-known/agents/heartbeat`;
let left = Number(count);

/** @param {number} i */
function send(i) {
  const origin = origins[i % origins.length] ?? "";
  const url = origin.endsWith("/") ? origin.slice(0, -1) : `${origin}/${i}`;
  const card = { name: "invented", url };
  const sent = request(heartbeats, { method: "POST", agent, headers }, (response) => {
    response.resume().on("end", () => {
      left -= 1;
      if (left === Number(rest)) process.stdout.write("hanging\n");
    });
  });
  sent.end(JSON.stringify({ agent_card: card }));
}

for (let i = 0; i < Number(count); i += 1) send(i);
