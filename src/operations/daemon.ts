/** The daemon itself: its status, and an overview of its state. */
import { z } from "zod";
import { text, whole, yesOrNo } from "./fields.ts";
import { operation, type Answer, type Services } from "./operation.ts";
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
  exposure: z
    .array(z.string())
    .describe("What is insecure or trusted, a sentence each")
    .meta({ examples: [["trusted: callers from 10.1.0.0/16 need no token, role agent"]] }),
});

export type Status = Answer<typeof STATUS>;

const status = operation({
  path: "/v1/status",
  effect: "reads",
  access: { action: "daemon.read", resource: "daemon:status" },
  brief: "Show the daemon",
  about: "The version of the daemon, when it started, its addresses and the place of its state.",
  input: z.strictObject({}),
  output: STATUS,
  run: async (services: Pick<Services, "status">) => services.status(),
});

export const daemon = { status, overview } as const;
