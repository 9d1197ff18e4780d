/** `rollcall tokens`: secrets that let programs in, each in one role and for a time. */
import type { AnswerOf } from "../../operations/table.ts";
import { note } from "../print.ts";
import { listOperation } from "../list-command.ts";
import { operation } from "../operation.ts";
import type { Cell } from "../terminal/table.ts";
import { ago, inTime, momentText } from "../terminal/time.ts";

type TokenRow = AnswerOf<"tokens.list">["tokens"][number];

function statusOf({ status }: TokenRow): Cell {
  return status === "live" ? { text: status, style: "green" } : { text: status, style: "red" };
}

function endOf({ expiresAtMs, revokedAtMs = expiresAtMs }: TokenRow, nowMs: number): string {
  return revokedAtMs > nowMs ? inTime(revokedAtMs, nowMs) : ago(revokedAtMs, nowMs);
}

const list = listOperation("tokens.list", {
  examples: [
    { call: "rollcall tokens", does: "all tokens, live and over" },
    { call: "rollcall tokens list --json", does: "for a script" },
  ],
  topics: ["token."],
  columns: [
    { title: "NAME", least: 12, cell: ({ name }) => name },
    { title: "ROLE", cell: ({ role }) => role },
    { title: "HOST", cell: ({ host = "" }) => host },
    { title: "STATUS", cell: statusOf },
    { title: "ENDS", cell: (token, { nowMs }) => endOf(token, nowMs) },
    { title: "KIND", isExtra: true, cell: ({ kind }) => kind },
  ],
  key: ({ name }) => name,
  nothing: [
    "no tokens: only this machine's user is let in; `rollcall tokens create NAME --role viewer`",
    "no token fits; `rollcall tokens` shows all",
  ],
});

const create = operation("tokens.create", {
  words: {
    name: "NAME",
    role: "--role ROLE",
    ttlMs: "--ttl TIME",
    host: "--host HOST",
    kind: "--kind KIND",
  },
  more: "It prints the secret alone, so that a script can keep it.",
  examples: [
    { call: "rollcall tokens create ci --role viewer --ttl 30d", does: "to look, for a month" },
    { call: "rollcall tokens create ci --role viewer > ci.token", does: "kept in a file" },
    { call: "rollcall tokens create box --role outpost --host box", does: "for one host" },
    { call: "rollcall ls --token-file ci.token", does: "uses it" },
  ],
  async show({ token, secret }, { context }) {
    await context.out.line(secret);
    const until = momentText(token.expiresAtMs, Date.now());
    await note(context, `${token.name} is a token for ${token.role} until ${until}`);
    await note(context, "its secret is not kept, and not shown again");
  },
});

const revoke = operation("tokens.revoke", {
  words: { name: "NAME" },
  examples: [{ call: "rollcall tokens revoke ci", does: "ends with 1 when there is none" }],
});

export const tokens = { list, create, revoke } as const;
