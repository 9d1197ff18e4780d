/** The daemon itself: its status, and an overview of its state. */
import { z } from "zod";
import { ROLES } from "../core/principals.ts";
import { text, whole, yesOrNo } from "./fields.ts";
import { operation, type Answer, type Uses } from "./operation.ts";
import { overview } from "./overview.ts";

const STATUS = z.strictObject({
  version: z.string().meta({ examples: ["0.1.0"] }),
  node: text("The name of this daemon", "box"),
  mode: z.string().meta({ examples: ["leading"] }),
  head: whole("The last event of its log"),
  pid: z.int().meta({ examples: [4711] }),
  startedAt: z.string().meta({ examples: ["2026-06-20T16:04:05.000Z"] }),
  grpcAddress: text("Where gRPC listens; absent where it is off", "127.0.0.1:7070").optional(),
  httpAddress: z.string().meta({ examples: ["127.0.0.1:9090"] }),
  state: text("The store of the state, and its place"),
  trouble: text("Why commands cannot be answered now; empty when they can"),
  loopbackOnly: yesOrNo("Whether only this machine is answered"),
  team: z
    .strictObject({
      url: text("The team's daemon", "https://rollcall.example"),
      host: text("What the team calls this machine; empty until it said so", "box"),
      state: z.enum(["joining", "connected", "offline", "refused", "closed"]),
      since: z
        .string()
        .describe("Since when")
        .meta({ examples: ["2026-06-20T16:04:05.000Z"] }),
      reason: text("Why it is not connected; empty while it is"),
      policy: text("What leaves this machine, and what may come in, in words"),
    })
    .optional()
    .describe("Of a daemon that reports to another one, as an outpost"),
  exposure: z
    .array(z.string())
    .describe("What is insecure or trusted, a sentence each")
    .meta({ examples: [["trusted: callers from 10.1.0.0/16 need no token, role agent"]] }),
});

export type DaemonStatus = Answer<typeof STATUS>;

const status = operation({
  path: "/v1/status",
  effect: "reads",
  access: { action: "daemon.read", resource: "daemon:status" },
  brief: "Show the daemon",
  about: "The version of the daemon, when it started, its addresses and the place of its state.",
  input: z.strictObject({}),
  output: STATUS,
  run: async (services: Uses<"status">) => services.status(),
});

const whoami = operation({
  path: "/v1/whoami",
  effect: "reads",
  access: { action: "daemon.read", resource: "daemon:whoami" },
  brief: "Show who is calling",
  about: "The principal of this very call: how the daemon knows its caller, and in which roles.",
  input: z.strictObject({}),
  output: z.strictObject({
    name: text("The name of the principal", "token:ci"),
    kind: z.enum(["person", "service", "agent"]),
    namespace: text("The tenant that it belongs to", "default"),
    roles: z.array(z.enum(ROLES)),
    host: text("The only one that an outpost may report on", "box").exactOptional(),
  }),
  async run(_services: object, _input, { by }) {
    const { name, kind, namespace, roles, host } = by.principal;
    return { name, kind, namespace, roles, ...(host !== undefined && { host }) };
  },
});

export const daemon = { status, overview, whoami } as const;
