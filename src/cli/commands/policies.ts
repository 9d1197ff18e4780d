/** `rollcall policies`: who may do what, and the answer to whether somebody may. */
import type { Policy } from "../../core/policies.ts";
import { listOperation } from "../listing.ts";
import { operation } from "../operation.ts";
import { clean } from "../terminal/clean.ts";
import type { Cell } from "../terminal/table.ts";

function effectOf({ effect }: Policy): Cell {
  return { text: effect, style: effect === "allow" ? "green" : "red" };
}

const list = listOperation("policies.list", {
  words: { subjectPrefix: "--subject PREFIX" },
  examples: [
    { call: "rollcall policies", does: "all policies" },
    { call: "rollcall policies --subject team:", does: "by the start of the subject" },
  ],
  topics: ["policy."],
  columns: [
    { title: "ID", least: 12, cell: ({ id }) => id },
    { title: "EFFECT", cell: effectOf },
    { title: "SUBJECT", least: 12, cell: ({ subject }) => subject },
    { title: "ACTION", least: 10, cell: ({ action }) => action },
    { title: "RESOURCE", least: 12, cell: ({ resource }) => resource },
  ],
  key: ({ id }) => id,
  nothing: [
    "no policies: all is denied; `rollcall policies set ID allow WHO WHAT WHERE`",
    "no policy fits; `rollcall policies` shows all",
  ],
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

const check = operation("policies.check", {
  words: { subject: "SUBJECT", action: "ACTION", resource: "RESOURCE" },
  more: "It ends with 0 when it is allowed, and with 1 when it is denied.",
  examples: [
    { call: "rollcall policies check scraper-1 call tool:browser", does: "for people" },
    { call: 'if rollcall policies check "$WHO" write db; then …', does: "in a script" },
  ],
  isNothing: ({ allowed }) => !allowed,
  async show({ allowed, policy }, { context: { out } }) {
    const word = allowed ? out.paint("green", "allowed") : out.paint("red", "denied");
    const because = policy
      ? `by ${policy.id}: ${policy.effect} ${policy.subject} to ${policy.action} ${policy.resource}`
      : "by default: no policy matches";
    await out.line(`${word} ${clean(because)}`);
  },
});

export const policies = { list, set, delete: remove, check } as const;
