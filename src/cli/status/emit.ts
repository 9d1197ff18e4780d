/** `emit`: one status from flags, checked, written, its path printed. */
import { realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { invalidArgument } from "../../core/errors.ts";
import { expandPath } from "../../wires/files/folder.ts";
import { SCHEMA_VERSION, type Status } from "../../wires/files/format.ts";
import { writeTimestamp } from "../../wires/files/timestamp.ts";
import { validate } from "../../wires/files/validate.ts";
import { writeStatusSync } from "../../wires/files/write.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit.ts";
import { clean } from "../terminal/clean.ts";
import type { ArgumentValues } from "./commands.ts";
import { pathFor } from "./files.ts";

export async function emit(
  context: Context,
  values: ArgumentValues,
  folder: string,
): Promise<void> {
  const { out, err } = context;
  const status = statusFrom(values);
  const problems = validate(status);
  for (const problem of problems) await err.line(clean(problem));
  if (problems.length > 0) {
    context.endWith(EXIT.nothingFound);
    return;
  }
  // It was just checked.
  await out.line(pathFor(out, writeStatusSync(status as Status, folder)));
}

/** The status from the flags, not validated yet. */
function statusFrom(values: ArgumentValues): object {
  const workspace = values.text("--workspace");
  return {
    schema_version: SCHEMA_VERSION,
    agent_id: values.text("--agent-id"),
    agent_name: values.text("--agent-name"),
    runtime: {
      lifecycle: values.text("--lifecycle"),
      updated_at: values.text("--updated-at") || writeTimestamp(Date.now()),
      ...given({
        last_activity_at: values.text("--last-activity-at") || undefined,
        pid: values.number("--pid"),
        workspace: workspace ? absolute(expandPath(workspace)) : undefined,
      }),
    },
    ...section("goal", {
      summary: values.text("--goal-summary"),
      updated_at: values.text("--goal-updated-at"),
      source: values.text("--goal-source"),
    }),
    ...section("task", {
      id: values.text("--task-id"),
      context_id: values.text("--context-id"),
      state: values.text("--task-state"),
      summary: values.text("--task-summary"),
      status_timestamp: values.text("--task-status-timestamp"),
    }),
    ...section("a2a", {
      agent_card_url: values.text("--agent-card-url"),
      service_url: values.text("--service-url"),
    }),
    ...section("x_meta", metaFrom(values.texts("--meta"))),
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
    throw invalidArgument(`${problem}: ${item}`);
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
