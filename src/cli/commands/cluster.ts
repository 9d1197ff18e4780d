/** `rollcall cluster`: the members that share one log, and which one leads. */
import type { AnswerOf } from "../../operations/table.ts";
import { lookOf, note, printFacts } from "../print.ts";
import { operation } from "../operation.ts";
import { tableLines, type Cell } from "../terminal/table.ts";
import { ago } from "../terminal/time.ts";

type MemberRow = AnswerOf<"cluster.members">["members"][number];

const status = operation("cluster.status", {
  examples: [{ call: "rollcall cluster", does: "the leader, the log, and this node's part" }],
  async show(answer, { context }) {
    await printFacts(context, [
      ["leader", answer.leader ?? { text: "none", style: "red" }],
      ["epoch", String(answer.epoch)],
      ["members", String(answer.members)],
      ["log", `${answer.state} (${answer.logId})`],
      ["format", formatText(answer)],
      ["this node", `${answer.node}, ${answer.mode}${answer.isMember ? "" : ", not joined yet"}`],
      ["its head", String(answer.head)],
    ]);
  },
});

function formatText({ format, newestFormat }: AnswerOf<"cluster.status">): string {
  if (format >= newestFormat) return String(format);
  const fix = "`rollcall cluster finalize`, once all members are upgraded";
  return `${format}; this version writes ${newestFormat}: ${fix}`;
}

const COLUMNS = [
  { title: "NODE", least: 12 },
  { title: "MODE" },
  { title: "ADDRESS", least: 16 },
  { title: "HEAD", isNumber: true },
  { title: "JOINED" },
  { title: "VERSION", isExtra: true },
  { title: "FORMAT", isNumber: true, isExtra: true },
];

function modeOf({ answers, mode = "" }: MemberRow): Cell {
  if (!answers) return { text: "no answer", style: "red" };
  return mode === "leading" ? { text: mode, style: "green" } : mode;
}

const members = operation("cluster.members", {
  examples: [{ call: "rollcall cluster members", does: "each as it answers now" }],
  isNothing: ({ members: all }) => all.length === 0,
  async show({ members: all }, { context }) {
    const nowMs = Date.now();
    const rows = all.map((member): Cell[] => [
      member.node,
      modeOf(member),
      member.address,
      member.head === undefined ? "" : String(member.head),
      ago(member.joinedAtMs, nowMs),
      member.version,
      String(member.newestFormat),
    ]);
    for (const line of tableLines(COLUMNS, rows, lookOf(context))) await context.out.line(line);
  },
});

const stepDown = operation("cluster.stepDown", {
  words: { node: "[NODE…]" },
  examples: [
    { call: "rollcall cluster step-down", does: "before the leader's machine is taken down" },
    { call: "rollcall cluster step-down box-1", does: "only if box-1 leads" },
  ],
  async show({ node }, { context }) {
    await note(context, `${node} leads no longer: another member does in a moment`);
  },
});

const leave = operation("cluster.leave", {
  words: { node: "NODE" },
  examples: [{ call: "rollcall cluster leave box-3", does: "a machine that will not come back" }],
});

const finalize = operation("cluster.finalize", {
  examples: [
    { call: "rollcall cluster finalize", does: "after the last member was upgraded and started" },
  ],
  async show({ format }, { context }) {
    await note(context, `the log is in format ${format}: members of older versions cannot read it`);
  },
});

/** The faults of a cluster, each with its fix; the worst comes first. */
function problemsOf(all: readonly MemberRow[]): readonly string[] {
  const silent = all.filter(({ answers }) => !answers);
  const logs = new Set(all.flatMap(({ logId }) => logId ?? []));
  const versions = new Set(all.map(({ version }) => version));
  const [newest] = all.map(({ head = 0 }) => head).toSorted((a, b) => b - a);
  const late = all.filter(({ head }) => head !== undefined && (newest ?? 0) - head > MAX_BEHIND);
  return [
    ...(all.some(({ isLeader }) => isLeader)
      ? []
      : ["no member leads: look at the log's store, and at the logs of the members"]),
    ...(logs.size > 1 ? ["members read different logs: give all of them the same --log"] : []),
    ...silent.map(
      ({ node, address }) =>
        `${node} does not answer at ${address}: start it, open that port to the members, or ` +
        `give it up with \`rollcall cluster leave ${node}\``,
    ),
    ...late.map(
      ({ node, head = 0 }) =>
        `${node} is ${(newest ?? 0) - head} events behind: look at its way to the store`,
    ),
    ...(all.length === 1 ? ["there is one member: nobody takes over when it is gone"] : []),
    ...(versions.size > 1
      ? [`members run versions ${[...versions].join(", ")}: upgrade all of them soon`]
      : []),
  ];
}

const MAX_BEHIND = 10_000;

const doctor = operation("cluster.members", {
  about: "Look for problems of the cluster, and say how to mend them. It ends with 1 if there are.",
  examples: [{ call: "rollcall cluster doctor", does: "asks every member" }],
  isNothing: ({ members: all }) => problemsOf(all).length > 0,
  async show({ members: all }, { context }) {
    const problems = problemsOf(all);
    for (const problem of problems) await context.out.line(problem);
    if (problems.length === 0) await context.out.line(`${all.length} members, all is well`);
  },
});

export const cluster = { status, members, "step-down": stepDown, leave, finalize, doctor } as const;
