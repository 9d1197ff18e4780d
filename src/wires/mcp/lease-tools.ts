/** Leases: one agent at a time may work on a thing; whoever holds it proves it by its token. */
import { z } from "zod";
import type { Lease } from "../../core/leases.ts";
import { moment, shown } from "./data.ts";
import { ENDS, SETS, tool, type Tool } from "./tool.ts";

export const AGENT_ID = z
  .string()
  .optional()
  .describe("The agent that acts; leave it out to act as the agent that this connection is");

const TASK_ID = z
  .string()
  .describe("The key of what is to be worked on: any text that all who share it agree on");

const TOKEN = z.int().min(0).describe("The token that acquire_lease gave");

const TTL = z
  .int()
  .min(0)
  .default(0)
  .describe("How long it is held, 1 to 86400; 0 for the default of 60. Renew before it ends");

const LEASE = z.object({
  task_id: z.string(),
  holder: z.string(),
  token: z.int(),
  expires_at: z.string().nullable(),
});

function leaseOf({ taskId, holder, token, expiresAtMs }: Lease): z.input<typeof LEASE> {
  return { task_id: shown(taskId), holder: shown(holder), token, expires_at: moment(expiresAtMs) };
}

const NOT_HELD = "the lease has ended or is another's: stop that work, or acquire_lease again.";
const ADVICE = {
  NOT_FOUND: `${NOT_HELD} If it says "no agent", leave agent_id out, or use a living one.`,
  NOT_HOLDER: NOT_HELD,
} as const;

const acquireLease = tool({
  name: "acquire_lease",
  title: "Acquire a lease",
  description:
    "Take a lease before working on something that others may work on too. If acquired is false, " +
    "lease tells who holds it and until when: do other work, and try later. Send the token along " +
    "with what you write, and renew_lease before expires_at.",
  input: z.strictObject({ task_id: TASK_ID, agent_id: AGENT_ID, ttl_seconds: TTL }),
  output: z.object({ acquired: z.boolean(), lease: LEASE }),
  hints: SETS,
  advice: ADVICE,
  async run({ task_id: taskId, agent_id, ttl_seconds }, { engine, acting }) {
    const agentId = await acting(agent_id);
    const ttlMs = ttl_seconds * 1000;
    const { acquired, lease } = await engine.execute({
      type: "lease.acquire",
      taskId,
      agentId,
      ttlMs,
    });
    const summary = acquired ? "You hold the lease." : "Another agent holds the lease.";
    return { summary, data: { acquired, lease: leaseOf(lease) } };
  },
});

const renewLease = tool({
  name: "renew_lease",
  title: "Renew a lease",
  description: "Hold a lease for longer. Refused when it has ended: then stop the work.",
  input: z.strictObject({
    task_id: TASK_ID,
    token: TOKEN,
    agent_id: AGENT_ID,
    ttl_seconds: TTL,
  }),
  output: z.object({ lease: LEASE }),
  hints: SETS,
  advice: ADVICE,
  async run({ task_id: taskId, token, agent_id, ttl_seconds }, { engine, acting }) {
    const agentId = await acting(agent_id);
    const ttlMs = ttl_seconds * 1000;
    const lease = await engine.execute({ type: "lease.renew", taskId, agentId, token, ttlMs });
    return { summary: "You still hold the lease.", data: { lease: leaseOf(lease) } };
  },
});

const releaseLease = tool({
  name: "release_lease",
  title: "Release a lease",
  description: "Give a lease back as soon as the work is done, so that others need not wait.",
  input: z.strictObject({ task_id: TASK_ID, token: TOKEN, agent_id: AGENT_ID }),
  output: z.object({ released: z.boolean() }),
  hints: ENDS,
  advice: ADVICE,
  async run({ task_id: taskId, token, agent_id }, { engine, acting }) {
    const agentId = await acting(agent_id);
    await engine.execute({ type: "lease.release", taskId, agentId, token });
    return { summary: "The lease is free.", data: { released: true } };
  },
});

export const LEASE_TOOLS: readonly Tool[] = [acquireLease, renewLease, releaseLease];
