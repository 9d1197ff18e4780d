/** `rollcall policies`: who may do what, and the answer to whether somebody may. */
import type { Policy } from "../../core/policies.ts";
import { listOperation } from "../list-command.ts";
import { lookOf } from "../print.ts";
import { operation } from "../operation.ts";
import { clean } from "../terminal/clean.ts";
import { tableLines, type Cell } from "../terminal/table.ts";

function effectOf({ effect }: Policy): Cell {
  return { text: effect, style: effect === "allow" ? "green" : "red" };
}

const COLUMNS = [
  { title: "ID", least: 12, cell: ({ id }: Policy) => id },
  { title: "EFFECT", cell: effectOf },
  { title: "SUBJECT", least: 12, cell: ({ subject }: Policy) => subject },
  { title: "ACTION", least: 10, cell: ({ action }: Policy) => action },
  { title: "RESOURCE", least: 12, cell: ({ resource }: Policy) => resource },
] as const;

const list = listOperation("policies.list", {
  words: { subjectPrefix: "--subject PREFIX" },
  more: "Those that ship with the roles are in `rollcall policies roles`.",
  examples: [
    { call: "rollcall policies", does: "all policies" },
    { call: "rollcall policies --subject team:", does: "by the start of the subject" },
  ],
  topics: ["policy."],
  columns: COLUMNS,
  key: ({ id }) => id,
  nothing: [
    "no policies but those of the roles: `rollcall policies roles`; " +
      "`rollcall policies set ID deny WHO WHAT WHERE` narrows a role",
    "no policy fits; `rollcall policies` shows all",
  ],
});

const roles = operation("policies.roles", {
  examples: [{ call: "rollcall policies roles", does: "what viewers, agents and others may do" }],
  async show({ policies: rows }, { context }) {
    const cells = rows.map((row) => COLUMNS.map(({ cell }) => cell(row)));
    for (const line of tableLines(COLUMNS, cells, lookOf(context))) await context.out.line(line);
  },
});

const set = operation("policies.set", {
  words: {
    id: "ID",
    effect: "EFFECT",
    subject: "SUBJECT",
    action: "ACTION",
    resource: "RESOURCE",
  },
  examples: [
    { call: "rollcall policies set web allow 'scraper-*' call 'tool:browser'", does: "allows" },
    { call: "rollcall policies set prod deny '*' write 'db:prod/*'", does: "denies" },
  ],
});

const remove = operation("policies.delete", {
  words: { id: "ID" },
  examples: [{ call: "rollcall policies delete web", does: "ends with 1 when there is none" }],
});

function inWords({ id, effect, subject, action, resource }: Policy): string {
  return `${id}: ${effect} ${subject} to ${action} ${resource}`;
}

const check = operation("policies.check", {
  words: {
    subject: "SUBJECT",
    action: "ACTION",
    resource: "RESOURCE",
    role: "--role ROLE",
    explain: "--explain",
  },
  more: "It ends with 0 when it is allowed, and with 1 when it is denied.",
  examples: [
    { call: "rollcall policies check scraper-1 call tool:browser", does: "for people" },
    { call: 'if rollcall policies check "$WHO" write db; then …', does: "in scripts" },
    {
      call: "rollcall policies check token:ci task.claim task:1 --role agent --explain",
      does: "as a caller",
    },
  ],
  isNothing: ({ allowed }) => !allowed,
  async show({ allowed, policy, nearMisses = [] }, { context: { out } }) {
    const word = allowed ? out.paint("green", "allowed") : out.paint("red", "denied");
    const because = policy ? `by ${inWords(policy)}` : "by default: no policy matches";
    await out.line(`${word} ${clean(because)}`);
    for (const { policy: missed, failed } of nearMisses) {
      await out.line(clean(`not by ${inWords(missed)}: its ${failed} does not match`));
    }
  },
});

export const policies = { list, roles, set, delete: remove, check } as const;
