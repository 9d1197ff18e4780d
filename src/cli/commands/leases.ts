/** `rollcall leases`: who holds what, and taking and giving it back from a script. */
import { shortDuration } from "../../core/words.ts";
import type { LeaseRow } from "../../wires/api/answers.ts";
import { note, printFacts, who } from "../print.ts";
import { listOperation } from "../list-command.ts";
import { operation } from "../operation.ts";
import { ago, inTime, momentText } from "../terminal/time.ts";

function holderOf({ holder, holderName }: LeaseRow, id: (id: string) => string): string {
  return `${id(holder)} ${holderName}`.trim();
}

const list = listOperation("leases.list", {
  words: { holder: "--holder AGENT", taskIdPrefix: "--prefix KEY" },
  examples: [
    { call: "rollcall leases", does: "all leases and their holders" },
    { call: "rollcall leases --prefix deploy/ --watch", does: "live" },
    { call: "rollcall leases --holder web-1", does: "of one agent" },
  ],
  // A holder that was renamed would be another one: only leases matter.
  topics: ["lease."],
  columns: [
    { title: "KEY", least: 16, cell: ({ taskId }) => taskId },
    { title: "HOLDER", least: 14, cell: (lease, { id }) => holderOf(lease, id) },
    { title: "TOKEN", isNumber: true, cell: ({ token }) => String(token) },
    { title: "EXPIRES", cell: ({ expiresAtMs }, { nowMs }) => inTime(expiresAtMs, nowMs) },
    {
      title: "HELD SINCE",
      isExtra: true,
      cell: (lease, { nowMs }) => ago(lease.acquiredAtMs, nowMs),
    },
  ],
  key: ({ taskId }) => taskId,
  nothing: [
    "no leases; `rollcall leases acquire KEY --agent AGENT` makes one",
    "no lease fits; `rollcall leases` shows all",
  ],
});

const get = operation("leases.get", {
  words: { taskId: "KEY" },
  examples: [{ call: "rollcall leases get deploy", does: "ends with 1 when it is free" }],
  async show({ lease }, { context }) {
    const nowMs = Date.now();
    await printFacts(context, [
      ["key", lease.taskId],
      ["holder", holderOf(lease, (id) => id)],
      ["token", String(lease.token)],
      ["expires", momentText(lease.expiresAtMs, nowMs)],
      ["held since", momentText(lease.acquiredAtMs, nowMs)],
      ["ttl", shortDuration(lease.ttlMs)],
    ]);
  },
});

const acquire = operation("leases.acquire", {
  words: { taskId: "KEY", ttlMs: "--ttl TIME", agentId: "--agent AGENT" },
  more: "It prints the token, and ends with 1 when another agent holds the lease.",
  examples: [
    { call: "rollcall leases acquire deploy --agent web-1", does: "for 60 s" },
    { call: "TOKEN=$(rollcall leases acquire deploy --ttl 5m) || exit", does: "in a script" },
  ],
  isNothing: ({ acquired }) => !acquired,
  async show({ acquired, lease }, { context }) {
    const { taskId, holder, holderName, token, ttlMs } = lease;
    if (acquired) {
      await context.out.line(String(token));
      return note(context, `${taskId} is held for ${shortDuration(ttlMs)}`);
    }
    const untilMs = lease.expiresAtMs - Date.now();
    const left = untilMs > 0 ? ` for ${shortDuration(untilMs)} more` : "";
    await note(context, `${taskId} is held by ${who(holder, holderName)}${left}`);
  },
});

const renew = operation("leases.renew", {
  words: { taskId: "KEY", token: "--token TOKEN", ttlMs: "--ttl TIME", agentId: "--agent AGENT" },
  examples: [
    { call: "rollcall leases renew deploy --token 1 --agent web-1", does: "as long as before" },
  ],
  show: ({ lease: { taskId, ttlMs } }, { context }) =>
    note(context, `${taskId} is held for ${shortDuration(ttlMs)}`),
});

const release = operation("leases.release", {
  words: { taskId: "KEY", token: "--token TOKEN", agentId: "--agent AGENT" },
  examples: [
    { call: "rollcall leases release deploy --token 1 --agent web-1", does: "free at once" },
  ],
});

export const leases = { list, get, acquire, renew, release } as const;
