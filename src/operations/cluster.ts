/** The members of a cluster: who they are, which one leads, and how it changes hands. */
import { z } from "zod";
import type { By } from "../core/by.ts";
import { RollcallError } from "../core/errors.ts";
import { moment, text, whole, yesOrNo } from "./fields.ts";
import { operation, type Uses } from "./operation.ts";

const NODE = text("The name of a node", "box-1");

const STATUS = z.strictObject({
  node: NODE,
  mode: text("Of this node: leading, following or loading", "following"),
  isMember: yesOrNo("Whether this node has joined"),
  leader: text("The node that leads; absent while none does", "box-2").optional(),
  epoch: whole("How often the leader changed", 7),
  head: whole("The last event that this node has seen", 42),
  format: whole("Of the log: what its events may say", 2),
  newestFormat: whole("The newest that this node writes; finalize raises the log to it", 2),
  logId: text("Of the log that all members share"),
  state: text("Its store, and its place", "postgres at 10.0.0.9:5432/rollcall"),
  members: whole("How many there are", 3),
});

export type ClusterStatus = z.output<typeof STATUS>;

const MEMBER = z
  .strictObject({
    node: NODE,
    address: text("Where the other members reach it", "10.0.0.1:7071"),
    version: text("Of its program", "0.1.0"),
    newestFormat: whole("Of the log that it reads and writes", 2),
    instance: text("Made at its first start, and kept with its files"),
    joinedAtMs: moment("When it joined"),
    isLeader: yesOrNo("Whether it leads"),
    answers: yesOrNo("Whether it answered this node just now"),
    mode: text("As it says; absent where it does not answer", "following").optional(),
    head: whole("The last event that it has seen; absent where it does not answer", 42).optional(),
    logId: text("The log that it reads; absent where it does not answer").optional(),
  })
  .meta({ id: "Member" });

export type MemberStatus = z.output<typeof MEMBER>;

/** Of a daemon that shares its log. */
export interface ClusterOperations {
  status(): ClusterStatus;
  /** Asks each of them. */
  members(): Promise<MemberStatus[]>;
  /** Gives the name of the node that led. */
  stepDown(node: string | undefined, by: By): Promise<string>;
}

const READ = { action: "cluster.read", resource: "cluster:*" } as const;

const status = operation({
  path: "/v1/cluster",
  effect: "reads",
  access: READ,
  brief: "Show the cluster, as this node sees it",
  about: "The node that leads, the log that all share, and how many members there are.",
  input: z.strictObject({}),
  output: STATUS,
  run: async ({ cluster }: Uses<"cluster">) => here(cluster).status(),
});

const members = operation({
  path: "/v1/cluster/members",
  effect: "reads",
  access: READ,
  brief: "List the members of the cluster",
  about:
    "The members, in order of their names. Each is asked, so that what is shown of it is of now; " +
    "one that does not answer within a second is shown as the log knows it.",
  input: z.strictObject({}),
  output: z.strictObject({ members: z.array(MEMBER) }),
  run: async ({ cluster }: Uses<"cluster">) => ({ members: await here(cluster).members() }),
});

const stepDown = operation({
  path: "/v1/cluster/step-down",
  effect: "sets",
  access: { action: "cluster.stepdown", resource: "cluster:*" },
  brief: "Have another node lead",
  about:
    "The node that leads ends its term and lets the others go first. What it has acknowledged " +
    "stays; jobs that it runs end.",
  input: z.strictObject({
    node: text("Only if this one leads; empty: whichever does").default(""),
  }),
  output: z.strictObject({ node: NODE.describe("The one that led") }),
  async run({ cluster }: Uses<"cluster">, { node }, { by }) {
    return { node: await here(cluster).stepDown(node === "" ? undefined : node, by) };
  },
});

const leave = operation({
  path: "/v1/cluster/leave",
  effect: "ends",
  access: { action: "cluster.leave", resource: "cluster:*" },
  brief: "Give up a member that is gone",
  about:
    "Take a node off the list of members that will not come back. One that lives is refused: it " +
    "leaves by itself when it is stopped.",
  input: z.strictObject({ node: NODE }),
  output: z.strictObject({}),
  async run({ cluster, engine }: Uses<"cluster" | "engine">, { node }, { by }) {
    here(cluster);
    await engine.execute({ type: "node.leave", node }, by);
    return {};
  },
});

const finalize = operation({
  path: "/v1/cluster/finalize",
  effect: "sets",
  access: { action: "cluster.finalize", resource: "cluster:*" },
  brief: "End an upgrade of all members",
  about:
    "Let the log say what is new in the version that all members run now. Members of the version " +
    "before cannot read it from then on. Refused while one of them is a member.",
  input: z.strictObject({}),
  output: z.strictObject({ format: whole("Of the log from now on", 2) }),
  async run({ cluster, engine }: Uses<"cluster" | "engine">, _input, { by }) {
    here(cluster);
    return engine.execute({ type: "node.finalize" }, by);
  },
});

function here(cluster: ClusterOperations | undefined): ClusterOperations {
  if (cluster) return cluster;
  const message =
    "this daemon is no member of a cluster: its log is its own; " +
    "start it with --log postgres://HOST/DATABASE or nats://HOST/NAME to share one";
  throw new RollcallError("WRONG_STATE", message);
}

export const cluster = { status, members, stepDown, leave, finalize } as const;
