/** The audit trail: what callers changed, did for others, and were denied. */
import { z } from "zod";
import { moment, text, whole } from "./fields.ts";
import { LIST } from "./limits.ts";
import { momentOf } from "./moments.ts";
import { operation, type Uses } from "./operation.ts";

const ENTRY = z
  .strictObject({
    atMs: moment("When it was; of denials, the first"),
    by: z.strictObject({
      principal: text("The caller; nobody for one that was not let in", "token:ci"),
      wire: text("How it called", "http"),
      peer: text("From where", "127.0.0.1"),
    }),
    action: text("The command, or the action that was asked for", "policy.set"),
    target: text("What it was about: NOUN:ID, or empty", "policy:web"),
    outcome: z.enum(["done", "denied"]),
    count: whole("How often it was denied within a minute", 1),
    reason: text("Why it was denied", ""),
  })
  .meta({ id: "AuditEntry" });

const list = operation({
  path: "/v1/audit",
  effect: "reads",
  access: { action: "audit.read", resource: "audit:*" },
  brief: "Show who changed what, and what was denied",
  about:
    "The audit trail, the newest first: changes of policies and tokens, cancels, dismissals, " +
    "acts for an agent of another principal, and denials, which are counted by the minute. It is " +
    "kept for 90 days, and says how far back it reaches.",
  input: z.strictObject({
    by: text("Only of this principal", "token:ci").optional(),
    action: text("Only actions with this prefix", "policy.").optional(),
    since: text("Only from this moment on: ISO 8601 with its zone, or ms since 1970").optional(),
    limit: z
      .int()
      .min(1)
      .max(LIST.limitMost)
      .default(LIST.limitDefault)
      .describe("How many at most"),
  }),
  output: z.strictObject({
    entries: z.array(ENTRY),
    reachesBackToMs: moment("Nothing from before is kept"),
  }),
  run: ({ audit }: Uses<"audit">, { by, action, since, limit }) =>
    audit.list({ by, action, sinceMs: momentOf(since), limit }),
});

export const audit = { list } as const;
