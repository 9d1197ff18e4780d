/** `emit`: one status from flags, checked, written, its path printed. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { RollcallError } from "../../core/errors.ts";
import { expandPath } from "../../wires/files/folder.ts";
import { SCHEMA_VERSION, type Status } from "../../wires/files/format.ts";
import { writeTimestamp } from "../../wires/files/timestamp.ts";
import { validate } from "../../wires/files/validate.ts";
import { writeStatusSync } from "../../wires/files/write.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clean } from "../terminal/clean.ts";
import { pathFor } from "./files.ts";

/** As they are typed; what they say is not checked yet. */
export interface EmitFlags {
  readonly agentId: string;
  readonly agentName: string;
  readonly lifecycle: string;
  readonly workspace?: string | undefined;
  readonly pid?: number | undefined;
  readonly updatedAt?: string | undefined;
  readonly lastActivityAt?: string | undefined;
  readonly goalSummary?: string | undefined;
  readonly goalUpdatedAt?: string | undefined;
  readonly goalSource?: string | undefined;
  readonly taskId?: string | undefined;
  readonly contextId?: string | undefined;
  readonly taskState?: string | undefined;
  readonly taskSummary?: string | undefined;
  readonly taskStatusTimestamp?: string | undefined;
  readonly agentCardUrl?: string | undefined;
  readonly serviceUrl?: string | undefined;
  readonly meta?: readonly string[] | undefined;
}

export async function emit(context: Context, flags: EmitFlags, folder: string): Promise<void> {
  const { out, err } = context;
  const status = statusFrom(flags);
  const problems = validate(status);
  for (const problem of problems) await err.line(clean(problem));
  if (problems.length > 0) {
    context.endWith(EXIT.nothingFound);
    return;
  }
  // It was just checked.
  await out.line(pathFor(out, writeStatusSync(status as Status, folder)));
}

function statusFrom(flags: EmitFlags): object {
  const { updatedAt, workspace } = flags;
  return {
    schema_version: SCHEMA_VERSION,
    agent_id: flags.agentId,
    agent_name: flags.agentName,
    runtime: {
      lifecycle: flags.lifecycle,
      updated_at: updatedAt || writeTimestamp(Date.now()),
      ...given({
        last_activity_at: flags.lastActivityAt || undefined,
        pid: flags.pid,
        workspace: workspace ? absolute(expandPath(workspace)) : undefined,
      }),
    },
    ...section("goal", {
      summary: flags.goalSummary,
      updated_at: flags.goalUpdatedAt,
      source: flags.goalSource,
    }),
    ...section("task", {
      id: flags.taskId,
      context_id: flags.contextId,
      state: flags.taskState,
      summary: flags.taskSummary,
      status_timestamp: flags.taskStatusTimestamp,
    }),
    ...section("a2a", { agent_card_url: flags.agentCardUrl, service_url: flags.serviceUrl }),
    ...section("x_meta", metaFrom(flags.meta ?? [])),
  };
}

/** Nothing at all when none of its fields is given. */
function section(name: string, fields: Readonly<Record<string, unknown>>): object {
  const there = given(fields);
  return Object.keys(there).length === 0 ? {} : { [name]: there };
}

function given(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function metaFrom(items: readonly string[]): Record<string, string> {
  const pairs = items.map((item): readonly [string, string] => {
    const at = item.indexOf("=");
    if (at > 0) return [item.slice(0, at), item.slice(at + 1)];
    const problem = at === 0 ? "invalid meta key" : "invalid meta, expected key=value";
    throw new RollcallError("INVALID_ARGUMENT", `${problem}: ${item}`);
  });
  return Object.fromEntries(pairs);
}

/** With links followed as far as there is something; what is not there yet is taken as it is. */
function absolute(path: string): string {
  const full = resolve(path);
  try {
    return realpathSync(full);
  } catch {
    return full === dirname(full) ? full : join(absolute(dirname(full)), basename(full));
  }
}
