/** `rollcall policies`: who may do what, and the answer to whether somebody may. */
import { buildCommand } from "@stricli/core";
import type { Policy } from "../../core/policies.ts";
import type { PolicyVerdict } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { daemonOf, pathOf, printJson, read } from "../daemon.ts";
import { EXIT } from "../exit.ts";
import { answerFlags, argument, listFlags, textFlag } from "../flags.ts";
import type { AnswerFlags, ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import { list, type Listing } from "../listing.ts";
import { clean } from "../terminal/clean.ts";
import type { Cell } from "../terminal/table.ts";

const EFFECTS = ["allow", "deny"] as const;

const ID = argument("ID", "What the policy is called");
const SUBJECT = argument("SUBJECT", "Who: an agent, a team, a user; * stands for anything");
const ACTION = argument("ACTION", "Does what; * stands for anything");
const RESOURCE = argument("RESOURCE", "To what; * stands for anything");

interface Filters extends ListFlags {
  readonly subject?: string;
}

function listing(subject: string | undefined): Listing<Policy> {
  return {
    noun: "policies",
    params: { subjectPrefix: subject },
    topics: ["policy."],
    columns: [
      { title: "ID", least: 12 },
      { title: "EFFECT" },
      { title: "SUBJECT", least: 12 },
      { title: "ACTION", least: 10 },
      { title: "RESOURCE", least: 12 },
    ],
    cells: (policy) => [
      policy.id,
      effectOf(policy),
      policy.subject,
      policy.action,
      policy.resource,
    ],
    key: ({ id }) => id,
    nothing:
      subject === undefined
        ? "no policies: all is denied; `rollcall policies set ID allow WHO WHAT WHERE`"
        : "no policy fits; `rollcall policies` shows all",
  };
}

function effectOf({ effect }: Policy): Cell {
  return { text: effect, style: effect === "allow" ? "green" : "red" };
}

export const policiesList = buildCommand<Filters, [], Context>({
  docs: {
    brief: "List the policies",
    fullDescription: about(
      "List the policies, in order of their ids.",
      { call: "rollcall policies", does: "all" },
      { call: "rollcall policies --subject team:", does: "whose subject begins so" },
    ),
  },
  parameters: {
    flags: { subject: textFlag("PREFIX", "Only subjects that begin so"), ...listFlags },
  },
  async func(flags) {
    await list(this, flags, () => listing(flags.subject));
  },
});

type Setting = [id: string, effect: Policy["effect"], who: string, what: string, where: string];

export const policiesSet = buildCommand<AnswerFlags, Setting, Context>({
  docs: {
    brief: "Set a policy, in place of one with the same id",
    fullDescription: about(
      "Set a policy, in place of one with the same id. A denial beats every allowance, and what " +
        "nothing allows is denied.",
      { call: "rollcall policies set web allow 'scraper-*' call 'tool:browser'", does: "allows" },
      { call: "rollcall policies set prod deny '*' write 'db:prod/*'", does: "denies" },
    ),
  },
  parameters: {
    flags: answerFlags,
    positional: {
      kind: "tuple",
      parameters: [
        ID,
        {
          placeholder: "EFFECT",
          brief: "allow or deny",
          parse: parseEffect,
          proposeCompletions: (partial) => EFFECTS.filter((each) => each.startsWith(partial)),
        },
        SUBJECT,
        ACTION,
        RESOURCE,
      ],
    },
  },
  async func(flags, ...[id, effect, subject, action, resource]) {
    await using daemon = daemonOf(this, flags);
    const body = { id, effect, subject, action, resource };
    const answer = await daemon.post("/v1/policies/set", body);
    if (flags.json === true) await printJson(this, answer);
  },
});

function parseEffect(text: string): Policy["effect"] {
  const effect = EFFECTS.find((each) => each === text);
  if (effect) return effect;
  throw new Error("not allow or deny");
}

export const policiesDelete = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Delete a policy",
    fullDescription: about("Delete a policy.", {
      call: "rollcall policies delete web",
      does: "1 when there is no such policy",
    }),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [ID] } },
  async func(flags, id) {
    await using daemon = daemonOf(this, flags);
    const answer = await daemon.post("/v1/policies/delete", { id });
    if (flags.json === true) await printJson(this, answer);
  },
});

export const policiesCheck = buildCommand<AnswerFlags, [string, string, string], Context>({
  docs: {
    brief: "Ask whether somebody may do something",
    fullDescription: about(
      "Ask whether a subject may do an action to a resource, and which policy says so. Allowed " +
        "is 0, denied is 1.",
      { call: "rollcall policies check scraper-1 call tool:browser", does: "for people" },
      { call: 'if rollcall policies check "$WHO" write db; then …', does: "in a script" },
    ),
  },
  parameters: {
    flags: answerFlags,
    positional: { kind: "tuple", parameters: [SUBJECT, ACTION, RESOURCE] },
  },
  async func(flags, ...[subject, action, resource]) {
    await using daemon = daemonOf(this, flags);
    const path = pathOf("/v1/policies/check", { subject, action, resource });
    const verdict = await read<PolicyVerdict>(daemon, path);
    const { allowed, policy } = verdict;
    if (!allowed) this.endWith(EXIT.nothingFound);
    if (flags.json === true) return await printJson(this, verdict);
    const word = allowed ? this.out.paint("green", "allowed") : this.out.paint("red", "denied");
    const because = policy
      ? `by ${policy.id}: ${policy.effect} ${policy.subject} to ${policy.action} ${policy.resource}`
      : "by default: no policy matches";
    await this.out.line(`${word} ${clean(because)}`);
  },
});
