/** `rollcall leases`: who holds what, and taking and giving it back from a script. */
import { buildCommand } from "@stricli/core";
import type { Lease } from "../../core/leases.ts";
import { shortDuration } from "../../core/words.ts";
import type { LeaseRow } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import {
  actingAgent,
  agentId,
  daemonOf,
  itemPath,
  lookOf,
  note,
  printJson,
  read,
  who,
} from "../daemon.ts";
import { durationFlag } from "../durations.ts";
import { EXIT } from "../exit.ts";
import {
  actingFlags,
  answerFlags,
  argument,
  listFlags,
  textFlag,
  tokenFlag,
  type ActingFlags,
  type AnswerFlags,
  type ListFlags,
} from "../flags.ts";
import { about } from "../help.ts";
import { list, type Listing } from "../listing.ts";
import { factLines } from "../terminal/table.ts";
import { ago, inTime, moment } from "../terminal/time.ts";

const KEY = argument("KEY", "What the lease is on: any text on one line");

interface Filters extends ListFlags {
  readonly holder?: string;
  readonly prefix?: string;
}

function listing(holder: string | undefined, prefix: string | undefined): Listing<LeaseRow> {
  return {
    noun: "leases",
    params: { holder, taskIdPrefix: prefix },
    // A holder that was renamed would be another one: only leases matter.
    topics: ["lease."],
    columns: [
      { title: "KEY", least: 16 },
      { title: "HOLDER", least: 14 },
      { title: "TOKEN", isNumber: true },
      { title: "EXPIRES" },
      { title: "HELD SINCE", isExtra: true },
    ],
    cells: (lease, { nowMs, id }) => [
      lease.taskId,
      holderOf(lease, id),
      String(lease.token),
      inTime(lease.expiresAtMs, nowMs),
      ago(lease.acquiredAtMs, nowMs),
    ],
    key: ({ taskId }) => taskId,
    nothing:
      holder === undefined && prefix === undefined
        ? "no leases; `rollcall leases acquire KEY --agent AGENT` makes one"
        : "no lease fits; `rollcall leases` shows all",
  };
}

function holderOf({ holder, holderName }: LeaseRow, id: (id: string) => string): string {
  return `${id(holder)} ${holderName}`.trim();
}

export const leasesList = buildCommand<Filters, [], Context>({
  docs: {
    brief: "List the leases that are held",
    fullDescription: about(
      "List the leases that are held, in order of their keys.",
      { call: "rollcall leases", does: "who holds what" },
      { call: "rollcall leases --prefix deploy/ --watch", does: "live" },
      { call: "rollcall leases --holder 3f2a9c1b", does: "of one agent" },
    ),
  },
  parameters: {
    flags: {
      holder: textFlag("AGENT", "Only those of this agent"),
      prefix: textFlag("KEY", "Only those whose key begins so"),
      ...listFlags,
    },
  },
  async func(flags) {
    await list(this, flags, async (daemon) => {
      const { holder, prefix } = flags;
      return listing(holder === undefined ? undefined : await agentId(daemon, holder), prefix);
    });
  },
});

export const leasesGet = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Show one lease: who holds it, and its token",
    fullDescription: about("Show who holds a key, until when, and with which token.", {
      call: "rollcall leases get deploy/prod",
      does: "1 when nobody holds it",
    }),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [KEY] } },
  async func(flags, key) {
    await using daemon = daemonOf(this, flags);
    const path = itemPath("/v1/leases", key);
    const answer = await read<{ readonly lease: LeaseRow }>(daemon, path);
    if (flags.json === true) return await printJson(this, answer);
    const { lease } = answer;
    const nowMs = Date.now();
    const facts = factLines(
      [
        ["key", lease.taskId],
        ["holder", holderOf(lease, (id) => id)],
        ["token", String(lease.token)],
        ["expires", moment(lease.expiresAtMs, nowMs)],
        ["held since", moment(lease.acquiredAtMs, nowMs)],
        ["ttl", shortDuration(lease.ttlMs)],
      ],
      lookOf(this),
    );
    for (const line of facts) await this.out.line(line);
  },
});

interface AcquireFlags extends ActingFlags {
  readonly ttl?: number;
}

export const leasesAcquire = buildCommand<AcquireFlags, [string], Context>({
  docs: {
    brief: "Acquire a lease, and print its token",
    fullDescription: about(
      "Acquire a lease for an agent, and print its token: whatever the lease protects should " +
        "refuse tokens lower than the highest it has seen. When somebody else holds it, that is " +
        "said and the exit code is 1. Nothing renews it: it ends with its ttl, or with its agent.",
      { call: "rollcall leases acquire deploy --agent 3f2a9c1b", does: "for 60 s" },
      { call: "TOKEN=$(rollcall leases acquire deploy --ttl 5m) || exit", does: "in a script" },
    ),
  },
  parameters: {
    flags: { ttl: durationFlag("How long it lasts [60s]"), ...actingFlags },
    positional: { kind: "tuple", parameters: [KEY] },
  },
  async func(flags, key) {
    await using daemon = daemonOf(this, flags);
    const by = await actingAgent(daemon, this, flags.agent);
    const body = { taskId: key, agentId: by, ttlMs: flags.ttl ?? 0 };
    const answer = await daemon.post("/v1/leases/acquire", body);
    const lease = answer["lease"] as LeaseRow;
    const isOurs = answer["acquired"] === true;
    if (!isOurs) this.endWith(EXIT.nothingFound);
    if (flags.json === true) return await printJson(this, answer);
    const untilMs = lease.expiresAtMs - Date.now();
    if (isOurs) {
      await this.out.line(String(lease.token));
      return await note(this, `${key} is held for ${shortDuration(lease.ttlMs)}`);
    }
    const holder = who(lease.holder, lease.holderName);
    const left = untilMs > 0 ? ` for ${shortDuration(untilMs)} more` : "";
    await note(this, `${key} is held by ${holder}${left}`);
  },
});

interface HeldFlags extends ActingFlags {
  readonly token: number;
}

interface RenewFlags extends HeldFlags {
  readonly ttl?: number;
}

export const leasesRenew = buildCommand<RenewFlags, [string], Context>({
  docs: {
    brief: "Hold a lease for longer",
    fullDescription: about("Hold a lease for longer, from now on.", {
      call: "rollcall leases renew deploy --token 7 --agent 3f2a9c1b",
      does: "as long as before",
    }),
  },
  parameters: {
    flags: {
      token: tokenFlag,
      ttl: durationFlag("How long from now on [as before]"),
      ...actingFlags,
    },
    positional: { kind: "tuple", parameters: [KEY] },
  },
  async func({ token, ttl: ttlMs = 0, ...flags }, key) {
    await using daemon = daemonOf(this, flags);
    const by = await actingAgent(daemon, this, flags.agent);
    const body = { taskId: key, agentId: by, token, ttlMs };
    const answer = await daemon.post("/v1/leases/renew", body);
    if (flags.json === true) return await printJson(this, answer);
    const lease = answer["lease"] as Lease;
    await note(this, `${key} is held for ${shortDuration(lease.ttlMs)}`);
  },
});

export const leasesRelease = buildCommand<HeldFlags, [string], Context>({
  docs: {
    brief: "Give a lease back before it ends",
    fullDescription: about("Give a lease back before it ends.", {
      call: "rollcall leases release deploy --token 7 --agent 3f2a9c1b",
      does: "free at once",
    }),
  },
  parameters: {
    flags: { token: tokenFlag, ...actingFlags },
    positional: { kind: "tuple", parameters: [KEY] },
  },
  async func({ token, ...flags }, key) {
    await using daemon = daemonOf(this, flags);
    const by = await actingAgent(daemon, this, flags.agent);
    const body = { taskId: key, agentId: by, token };
    const answer = await daemon.post("/v1/leases/release", body);
    if (flags.json === true) await printJson(this, answer);
  },
});
