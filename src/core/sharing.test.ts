/** Each limit that principals share, filled by one of them. */
import { expect, test, vi } from "vitest";
import { audit } from "../../test/support/core/audit.ts";
import { taskCreate, World, card } from "../../test/support/core/fixture.ts";
import { byOf } from "./by.ts";
import type * as Limits from "./limits.ts";
import { LOCAL } from "./principals.ts";
import type { Command } from "./rules.ts";
import { SHARED } from "./shares.ts";

vi.mock("./limits.ts", async (original) => {
  const { COUNT, ...others } = await original<typeof Limits>();
  const few = new Map(Object.keys(COUNT).map((name) => [name, 8]));
  // There must be agents to hold the others, and cards and inputs weigh 100 each.
  for (const name of ["agents", "entries"]) few.set(name, 100);
  for (const name of ["taskBytes", "entryLength", "entryLengthPerSource"]) few.set(name, 600);
  return { ...others, COUNT: Object.fromEntries<number>(few) };
});

const TEXT = "x".repeat(100);

/** The n-th wish of a principal; a limit that is not here does not compile. */
const WISHES: Readonly<Record<keyof typeof SHARED, (world: World, n: number) => Command>> = {
  agents: () => ({ type: "agent.register", card: card(), ttlMs: 0 }),
  leases: (world, n) => {
    const agentId = world.register();
    return { type: "lease.acquire", taskId: nameOf(world, n), agentId, ttlMs: 0 };
  },
  groups: (world, n) => {
    const agentId = world.register();
    return { type: "election.campaign", group: nameOf(world, n), agentId };
  },
  candidatesPerGroup: (world) => {
    return { type: "election.campaign", group: "g", agentId: world.register() };
  },
  policies: (world, n) => {
    const rule = { subject: "*", action: "*", resource: "*", effect: "deny" } as const;
    return { type: "policy.set", policy: { id: nameOf(world, n), ...rule } };
  },
  tokens: (world, n) => {
    const hash = Buffer.from(nameOf(world, n)).toString("hex").padStart(64, "0");
    const facts = { role: "viewer", kind: "service", host: "", ttlMs: 0, hash } as const;
    return { type: "token.create", name: nameOf(world, n), ...facts };
  },
  reports: (world, n) => {
    const alias = `script:${nameOf(world, n)}`;
    const facts = { liveness: { value: "alive", rule: "test" } } as const;
    const report = { alias, agentId: alias, links: [], order: 1, reportedAtMs: 1, facts };
    return { type: "fleet.report", report };
  },
  entries: (world, n) => heartbeat(world, { url: `http://${nameOf(world, n)}`, text: "" }),
  entriesPerOrigin: (world, n) =>
    heartbeat(world, { url: `http://one/${nameOf(world, n)}`, origin: "http://one", text: "" }),
  entryLength: (world, n) => heartbeat(world, { url: `http://${nameOf(world, n)}`, text: TEXT }),
  unfinishedTasks: () => taskCreate(),
  unfinishedJobs: (world) => world.order({ principal: world.by.principal.name }),
  taskBytes: () => taskCreate({ input: TEXT }),
};

function nameOf({ by }: World, n: number): string {
  return `${by.principal.name.replace(":", "-")}-${n}`;
}

function heartbeat(
  { by }: World,
  { url, origin = url, text }: { readonly url: string; readonly origin?: string; text: string },
): Command {
  return {
    type: "directory.heartbeat",
    url,
    origin,
    // Its senders have a limit of their own.
    source: url,
    card: { text, digest: `${by.principal.name}${url}` },
    intervalMs: 10_000,
    staleMultiplier: 3,
    newTokenHash: "",
    tokenHash: "",
  };
}

function called(name: string) {
  return byOf({ ...LOCAL, name: `token:${name}` }, "http");
}

test.each(Object.keys(SHARED) as (keyof typeof SHARED)[])(
  "%s: one principal has half of them, another one more, and all are counted",
  (what) => {
    const world = new World();
    const { limit, noun } = SHARED[what];
    const wish = WISHES[what];
    world.by = called("ci");
    let had = 0;
    let next = wish(world, had);
    for (; world.decide(next).ok; next = wish(world, had)) {
      world.run(next);
      had += 1;
      expect(had).toBeLessThan(limit);
    }
    const isWeight = what === "taskBytes" || what === "entryLength";
    const own = isWeight ? had * TEXT.length : had;
    expect(own).toBe(limit / 2);
    expect(world.refusal(next)).toBe(
      `LIMIT_EXCEEDED: token:ci already has ${own} ${noun}: ` +
        `its share of the limit ${limit} is ${limit / 2}`,
    );
    world.by = called("ann");
    world.run(wish(world, 0));
    expect(audit(world.state)).toEqual([]);
  },
);
