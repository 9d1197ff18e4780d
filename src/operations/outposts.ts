/**
 * Outposts: which machines report here, and the calls by which they do. An outpost opens every
 * connection itself; what is asked of it comes down as the answer to one of its own calls.
 */
import { z } from "zod";
import type { By } from "../core/by.ts";
import { isErrorCode, RollcallError } from "../core/errors.ts";
import { placeOfJob, withHost } from "../core/host-jobs.ts";
import { JOB_STATUSES } from "../core/jobs/outcome.ts";
import { OUTPOST } from "../core/limits.ts";
import { ACCEPTS, SHARES } from "../core/outposts.ts";
import { byKey, pageOf } from "../core/pages.ts";
import { LINK } from "../outposts/limits.ts";
import { WHOLE_PARTS, type Step } from "../outposts/outposts.ts";
import { moment, text, whole, yesOrNo } from "./fields.ts";
import { listJson, PAGE, PAGED } from "./lists.ts";
import { operation, type OperationServices } from "./operation.ts";
import { FACTS } from "./reports.ts";

type Needs = Pick<OperationServices, "outposts">;

const JOIN = { action: "outpost.join", resource: "outpost:*" } as const;

const SESSION = text("As `join` gave it", "3f2a9c1b5d7e4f60a1b2c3d4e5f60718");

/** The host that a caller speaks for: its token says so, and nothing else does. */
export function hostOfCaller({ principal: { host, name } }: By): string {
  if (host !== undefined) return host;
  const fix = "rollcall tokens create NAME --role outpost --host HOST";
  throw new RollcallError(
    "PERMISSION_DENIED",
    `${name} is no outpost: join with a token of that role (${fix})`,
  );
}

const join = operation({
  path: "/v1/outposts/join",
  effect: "sets",
  access: JOIN,
  brief: "Join as an outpost",
  about:
    "Begin to report on the host of the caller's token. The answer says how far its reports were " +
    "taken before. A second living outpost of one host is refused.",
  input: z.strictObject({
    instance: text("One for each folder of state", "8d1f0a"),
    machine: text("What the machine calls itself", "annas-laptop"),
    version: text("Of its program", "0.1.0"),
    share: z.enum(SHARES).describe("What it lets out"),
    accept: z.enum(ACCEPTS).describe("What it lets in"),
    clockMs: moment("What its clock shows"),
  }),
  output: z.strictObject({
    host: text("The host that it speaks for", "box"),
    session: SESSION,
    cursor: text("As its last `take` said; empty before the first"),
    beatMs: whole("How often it should be heard at least", OUTPOST.beatMs),
  }),
  async run({ outposts }: Needs, { clockMs, ...facts }, { by }) {
    const { host, session, cursor } = await outposts.join(hostOfCaller(by), { facts, clockMs }, by);
    return { host, session, cursor, beatMs: OUTPOST.beatMs };
  },
});

const beat = operation({
  path: "/v1/outposts/beat",
  effect: "sets",
  access: JOIN,
  brief: "Say that an outpost is there",
  about: "Tell that an outpost with nothing to report is still there.",
  input: z.strictObject({ session: SESSION }),
  output: z.strictObject({}),
  async run({ outposts }: Needs, { session }, { by }) {
    await outposts.beat(hostOfCaller(by), session, by);
    return {};
  },
});

const PROCESS = z.strictObject({
  pid: z.int(),
  startedAtMs: z.int().optional(),
  hasEnded: z.boolean().optional(),
});

const REPORT = z.strictObject({
  alias: text("WIRE@HOST:NAME, of the caller's own host", "file@box:nightly"),
  agentId: text("The agent whose row it belongs to, with its host", "nightly@box"),
  links: z.array(z.string()).default([]).describe("Other aliases of the same agent"),
  order: whole("Grows with every report of the source"),
  reportedAtMs: z.int().describe("When it was so"),
  sinceMs: z.int().optional().describe("Since when it goes on"),
  facts: FACTS.extend({ process: PROCESS.optional() }).meta({
    examples: [{ liveness: { value: "alive" } }],
  }),
});

const SENT_JOB = z.strictObject({
  id: text("The job's id there", "job_01KZ4TA0"),
  agent: text("NAME@VERSION, or the bare name", "indexer"),
  principal: text("For whom it is done there", "local"),
  parent: text("The job that delegated it; empty for none").default(""),
  status: z.enum(JOB_STATUSES),
  submittedAtMs: moment("When it was submitted"),
  startedAtMs: moment("When it started; 0 until then"),
  endedAtMs: moment("When it ended; 0 until then"),
  restarts: whole("How often it was started anew").default(0),
  code: text("Why it did not succeed, as a code").default(""),
  reason: text("The same as a sentence").default(""),
});

const STEP = z.strictObject({
  to: text("The place in the outpost's log that these reports reach to", "42.1f3b"),
  reports: z
    .array(REPORT)
    .max(OUTPOST.reportsAtOnce)
    .default([])
    .describe("Of different agents, in the order in which they happened"),
  gone: z
    .array(z.string())
    .max(OUTPOST.reportsAtOnce)
    .default([])
    .describe("Aliases that the outpost no longer knows"),
  jobs: z
    .array(SENT_JOB)
    .max(OUTPOST.reportsAtOnce)
    .default([])
    .describe("How jobs of the outpost are, with their ids there"),
  jobsGone: z
    .array(z.string())
    .max(OUTPOST.jobs)
    .default([])
    .describe("Ids, as `jobs` lists them here, of those that the outpost no longer knows"),
});

const take = operation({
  path: "/v1/outposts/take",
  effect: "sets",
  access: JOIN,
  brief: "Send the reports of an outpost",
  about:
    "Send reports in the order of the outpost's log. Each step is taken whole or not at all, and " +
    "only if it goes on from where the last one ended, so nothing is taken twice.",
  input: z.strictObject({
    session: SESSION,
    from: text("Where the last step that was taken ended", "41.09ae"),
    steps: z.array(STEP).min(1).max(LINK.steps),
    whole: z
      .enum(WHOLE_PARTS)
      .optional()
      .describe("Of a telling of everything that there is: which part this one is"),
  }),
  output: z.strictObject({
    news: whole("How many reports said something new"),
    refused: z.array(z.strictObject({ alias: z.string(), code: z.string(), reason: z.string() })),
  }),
  async run({ outposts }: Needs, input, { by }) {
    // Absent fields stay absent: the state tells absent from undefined.
    const steps = JSON.parse(JSON.stringify(input.steps)) as readonly Step[];
    return outposts.take(hostOfCaller(by), { ...input, steps }, by);
  },
});

const leave = operation({
  path: "/v1/outposts/leave",
  effect: "ends",
  access: JOIN,
  brief: "Leave as an outpost",
  about: "Tell that the outpost stops: its host counts as silent at once.",
  input: z.strictObject({ session: SESSION }),
  output: z.strictObject({}),
  async run({ outposts }: Needs, { session }, { by }) {
    await outposts.leave(hostOfCaller(by), session, by);
    return {};
  },
});

const requests = operation({
  path: "/v1/outposts/requests",
  effect: "reads",
  access: JOIN,
  brief: "Follow what is asked of an outpost",
  about: "Whether the stream of requests is open; the stream itself tells what is asked.",
  input: z.strictObject({ session: SESSION }),
  output: z.strictObject({ isOpen: yesOrNo("Whether somebody follows the requests") }),
  async run({ outposts }: Needs, { session }, { by }) {
    return { isOpen: outposts.requests(hostOfCaller(by), session).hasStream };
  },
});

const answer = operation({
  path: "/v1/outposts/answer",
  effect: "sets",
  access: JOIN,
  brief: "Answer what was asked of an outpost",
  about: "Tell how a request went that came down the stream.",
  input: z.strictObject({
    session: SESSION,
    id: text("Of the request", "7"),
    code: text("Why it was refused; absent where it was done", "PERMISSION_DENIED").optional(),
    message: text("The same as a sentence").default(""),
    jobId: text("Of the job that was submitted", "job_01KZ4TA0").optional(),
  }),
  output: z.strictObject({ isAwaited: yesOrNo("Whether somebody still waited for it") }),
  async run({ outposts }: Needs, { session, id, code, message, jobId }, { by }) {
    const refusal = code !== undefined && isErrorCode(code) ? code : "INTERNAL";
    const said = code === undefined ? { ok: true as const, jobId } : refused(refusal, message);
    return { isAwaited: outposts.answer(hostOfCaller(by), session, { id, answer: said }) };
  },
});

function refused<Code>(code: Code, message: string) {
  return { ok: false as const, code, message };
}

const OUTPOST_SHAPE = z
  .strictObject({
    host: text("The host that it speaks for", "box"),
    machine: text("What the machine calls itself", "annas-laptop"),
    version: text("Of its program", "0.1.0"),
    share: z.enum(SHARES).describe("What it lets out"),
    accept: z.enum(ACCEPTS).describe("What it lets in"),
    joinedAtMs: moment("When it last joined"),
    seenAtMs: moment("When it was last heard"),
    silentSinceMs: moment("Since when it is silent; 0 while it is here"),
    isConnected: yesOrNo("Whether it can be asked something now"),
    agents: whole("How many agents it reports", 5),
    shiftMs: whole("By how much its clock is behind ours, where it is wrong", 0),
  })
  .meta({ id: "Outpost" });

/** By their names. */
const ORDER = byKey<z.output<typeof OUTPOST_SHAPE>>(({ host }) => host);

const list = operation({
  path: "/v1/outposts",
  effect: "reads",
  access: { action: "outpost.read", resource: "outpost:*" },
  brief: "List the outposts",
  about: "List the machines whose daemons report here, and since when one is silent.",
  input: z.strictObject(PAGE),
  output: z.strictObject({ ...PAGED, outposts: z.array(OUTPOST_SHAPE) }),
  async run({ outposts, engine }: Pick<OperationServices, "outposts" | "engine">, input) {
    const listed = await outposts.list();
    const shown = listed.map(({ outpost, ...seen }) => {
      const { instance: _, session: __, cursor: ___, ...facts } = outpost;
      return { ...facts, ...seen };
    });
    const { items, ...page } = pageOf(shown, ORDER, input);
    return { sequence: engine.head, ...page, outposts: items };
  },
  json: listJson("outposts", ORDER),
});

const cancel = operation({
  path: "/v1/outposts/cancel",
  effect: "ends",
  access: { action: "outpost.ask", resource: "outpost:{host}" },
  brief: "Cancel a job of an outpost",
  about:
    "Have a job cancelled on the machine that runs it. The outpost decides, by what it accepts; " +
    "answered when it has done so, or not at all while it is not connected.",
  input: z.strictObject({
    host: text("The host of the outpost", "box"),
    jobId: text("The job's id, there or as `jobs` lists it", "job_01KZ4TA0"),
    reason: text("Why").default(""),
  }),
  output: z.strictObject({}),
  async run({ outposts }: Needs, { host, jobId, reason }, { by }) {
    const there = placeOfJob(jobId);
    const id = there?.host === host ? there.jobId : jobId;
    await outposts.ask(host, { kind: "job.cancel", jobId: id, reason }, by);
    return {};
  },
});

const run = operation({
  path: "/v1/outposts/run",
  effect: "adds",
  access: { action: "outpost.ask", resource: "outpost:{host}" },
  brief: "Run a job on an outpost",
  about:
    "Have a job run by an agent of that machine. The outpost decides, by what it accepts and by " +
    "its own policies; `jobs` lists the job as the outpost tells of it. What the job says, and " +
    "its result, stay there.",
  input: z.strictObject({
    host: text("The host of the outpost", "box"),
    agent: text("Who does it: NAME or NAME@VERSION", "indexer"),
    input: z
      .string()
      .max(LINK.inputLength)
      .default("")
      .describe("What it gets: JSON, else a text; empty for nothing"),
    key: text("Idempotency key: submitted again, it is the same job").optional(),
  }),
  output: z.strictObject({ jobId: text("The job's id here", "job_01KZ4TA0@box") }),
  async run({ outposts }: Needs, { host, ...task }, { by }) {
    const jobId = await outposts.ask(host, { kind: "job.submit", ...task }, by);
    if (jobId === undefined) throw new RollcallError("INTERNAL", `${host} named no job`);
    return { jobId: withHost(jobId, host) };
  },
});

export const outposts = { list, join, beat, take, leave, requests, answer, cancel, run } as const;
