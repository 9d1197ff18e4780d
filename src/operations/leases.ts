/** Leases: one agent at a time may work on a thing; the holder proves it by its token. */
import { z } from "zod";
import { byKey, pageOf } from "../core/pages.ts";
import type { By } from "../core/by.ts";
import { leaseFor } from "../core/fencing.ts";
import { RollcallError } from "../core/errors.ts";
import { key } from "../core/fields.ts";
import { leasesOf, type Lease } from "../core/leases.ts";
import type { State } from "../core/state.ts";
import {
  ACTING_AGENT,
  fencingToken,
  moment,
  OWNER,
  prefix,
  SEQUENCE,
  SOME_ID,
  text,
  ttl,
  whole,
  yesOrNo,
} from "./fields.ts";
import { FILTERED, listJson, listPage, matching, PAGE } from "./lists.ts";
import { agentNameOf } from "./names.ts";
import { operation, type Answer, type Uses } from "./operation.ts";
import { check } from "./parse.ts";

const TASK_ID = text(
  "The key of the work: any text that the agents which share it agree on",
  "deploy/prod",
);

const TOKEN = fencingToken("The token that came with the lease");

export const LEASE_SHAPE = z
  .strictObject({
    taskId: TASK_ID,
    holder: text("The agent that holds it", SOME_ID),
    owner: OWNER,
    token: fencingToken(
      "Grows with every grant: refuse a write with a lower one. " +
        "0 for all but its holder and operators",
    ),
    ttlMs: whole("How long it is held from now on", 60_000),
    acquiredAtMs: moment("Since when it is held"),
    expiresAtMs: moment("When it ends unless it is renewed"),
    holderName: text("The name of its holder; empty when it is no longer known", "deployer"),
  })
  .meta({ id: "Lease" });

const ORDER = byKey<Lease>(({ taskId }) => taskId);

const list = operation({
  path: "/v1/leases",
  effect: "reads",
  access: { action: "lease.read", resource: "lease:*" },
  brief: "List the leases that are held",
  about: "List the leases that are held, in order of their keys.",
  input: z.strictObject({
    ...PAGE,
    holder: text("Only those of this agent").optional(),
    taskIdPrefix: prefix("Only keys with this prefix"),
  }),
  output: z.strictObject({ ...FILTERED, leases: z.array(LEASE_SHAPE) }),
  async run({ engine }: Uses<"engine">, { holder, taskIdPrefix, ...page }, { by }) {
    if (holder !== undefined) {
      return engine.read((state, sequence) => {
        const own = leasesOf(state, holder);
        const fit = matching(own, ({ taskId }) => taskId.startsWith(taskIdPrefix));
        const { items, ...facts } = pageOf(fit, ORDER, page);
        return { sequence, ...facts, leases: items.map((each) => rowOf(state, each, by)) };
      });
    }
    const { items, ...facts } = await listPage(
      {
        engine,
        list: ({ leases: all }) => all,
        prefix: taskIdPrefix,
        show: ({ lease }, state) => rowOf(state, lease, by),
      },
      page,
    );
    return { ...facts, leases: items };
  },
  json: listJson("leases", ORDER),
});

const get = operation({
  path: "/v1/leases/{taskId}",
  effect: "reads",
  access: { action: "lease.read", resource: "lease:{taskId}" },
  brief: "Show one lease",
  about: "Show who holds a key, until when, and with which token.",
  input: z.strictObject({ taskId: TASK_ID }),
  output: z.strictObject({ lease: LEASE_SHAPE, sequence: SEQUENCE }),
  async run({ engine }: Uses<"engine">, { taskId }, { by }) {
    check(key("taskId", taskId));
    const found = await engine.read((state, sequence) => {
      const lease = state.leases.byTask.get(taskId)?.lease;
      return lease && { lease: rowOf(state, lease, by), sequence };
    });
    if (!found) throw new RollcallError("NOT_FOUND", `no lease on ${taskId}`);
    return found;
  },
});

const acquire = operation({
  path: "/v1/leases/acquire",
  effect: "sets",
  access: { action: "lease.acquire", resource: "lease:{taskId}" },
  brief: "Acquire a lease",
  about:
    "Acquire a lease for an agent: it alone holds the key, until it releases it, dies, or the " +
    "time is up. Whatever the lease protects should refuse tokens lower than the highest it has " +
    "seen.",
  input: z.strictObject({
    taskId: TASK_ID,
    agentId: ACTING_AGENT,
    ttlMs: ttl("How long it is held, up to a day; 60 s unless set. Renew it before it ends"),
  }),
  output: z.strictObject({
    acquired: yesOrNo("False when another agent holds it: then the lease is that agent's", true),
    lease: LEASE_SHAPE,
  }),
  async run({ engine }: Uses<"engine">, input, { by }) {
    const { acquired, lease } = await engine.execute({ type: "lease.acquire", ...input }, by);
    return { acquired, lease: engine.peek((state) => rowOf(state, lease, by)) };
  },
});

const renew = operation({
  path: "/v1/leases/renew",
  effect: "sets",
  access: { action: "lease.renew", resource: "lease:{taskId}" },
  brief: "Renew a lease",
  about: "Hold a lease for longer, from now on.",
  input: z.strictObject({
    taskId: TASK_ID,
    agentId: ACTING_AGENT,
    token: TOKEN,
    ttlMs: ttl("How long from now on, up to a day; as long as before unless set"),
  }),
  output: z.strictObject({ lease: LEASE_SHAPE }),
  async run({ engine }: Uses<"engine">, input, { by }) {
    const lease = await engine.execute({ type: "lease.renew", ...input }, by);
    return { lease: engine.peek((state) => rowOf(state, lease, by)) };
  },
});

const release = operation({
  path: "/v1/leases/release",
  effect: "ends",
  access: { action: "lease.release", resource: "lease:{taskId}" },
  brief: "Release a lease",
  about: "Give a lease back before it ends, so that others need not wait.",
  input: z.strictObject({ taskId: TASK_ID, agentId: ACTING_AGENT, token: TOKEN }),
  output: z.strictObject({}),
  async run({ engine }: Uses<"engine">, input, { by }) {
    await engine.execute({ type: "lease.release", ...input }, by);
    return {};
  },
});

export const leases = { list, get, acquire, renew, release } as const;

function rowOf(state: State, lease: Lease, by: By): Answer<typeof LEASE_SHAPE> {
  return { ...leaseFor(lease, by), holderName: agentNameOf(state, lease.holder) };
}
