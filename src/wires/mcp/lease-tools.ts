/** Leases: one agent at a time may work on a thing; its holder proves it by its token. */
import { z } from "zod";
import { leases } from "../../operations/leases.ts";
import type { Lease } from "../../core/leases.ts";
import { isoMoment, forModel } from "./data.ts";
import { toolOf } from "./operation-tool.ts";
import type { Tool } from "./tool.ts";

const LEASE = z.object({
  task_id: z.string(),
  holder: z.string(),
  token: z.int(),
  expires_at: z.string().nullable(),
});

function leaseOf({ taskId, holder, token, expiresAtMs }: Lease): z.input<typeof LEASE> {
  return {
    task_id: forModel(taskId),
    holder: forModel(holder),
    token,
    expires_at: isoMoment(expiresAtMs),
  };
}

const NOT_HELD = "the lease has ended or is another's: stop that work, or acquire_lease again.";
const ADVICE = {
  NOT_FOUND: `${NOT_HELD} If it says "no agent", leave agent_id out, or use a living one.`,
  NOT_HOLDER: NOT_HELD,
} as const;

const acquireLease = toolOf(leases.acquire, {
  name: "acquire_lease",
  description:
    "Take a lease before working on something that others may work on too. If acquired is false, " +
    "lease tells who holds it and until when: do other work, and try later. Send the token along " +
    "with what you write, and renew_lease before expires_at.",
  output: z.object({ acquired: z.boolean(), lease: LEASE }),
  advice: ADVICE,
  tell: ({ acquired, lease }) => ({
    summary: acquired ? "You hold the lease." : "Another agent holds the lease.",
    data: { acquired, lease: leaseOf(lease) },
  }),
});

const renewLease = toolOf(leases.renew, {
  name: "renew_lease",
  description: "Hold a lease for longer. Refused when it has ended: then stop the work.",
  output: z.object({ lease: LEASE }),
  advice: ADVICE,
  tell: ({ lease }) => ({
    summary: "You still hold the lease.",
    data: { lease: leaseOf(lease) },
  }),
});

const releaseLease = toolOf(leases.release, {
  name: "release_lease",
  description: "Give a lease back as soon as the work is done, so that others need not wait.",
  output: z.object({ released: z.boolean() }),
  advice: ADVICE,
  tell: () => ({ summary: "The lease is free.", data: { released: true } }),
});

export const LEASE_TOOLS: readonly Tool[] = [acquireLease, renewLease, releaseLease];
