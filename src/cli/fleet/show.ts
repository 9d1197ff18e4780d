/**
 * The fleet as `rollcall ls` shows it: a table, a line of counts, or live. Apart from the flags of
 * the command (commands/ls.ts), so that bin/ls.ts shows it without a parser.
 */
import { invalidArgument } from "../../core/errors.ts";
import type { RowJob } from "../../fleet/job-agents.ts";
import type { Row } from "../../fleet/row.ts";
import type { FleetList } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { note, noteMoment } from "../print.ts";
import type { ListFlags } from "../flags.ts";
import type { ListView } from "../list-views.ts";
import {
  showList,
  UNSEEN_FRESH_MS,
  type ListLook,
  type ListSource,
  type View,
} from "../listing.ts";
import { fromHome } from "../terminal/path.ts";
import type { Cell } from "../terminal/table.ts";
import { ago } from "../terminal/time.ts";
import { HEADLINE_COLOURS, summary } from "./look.ts";
import { NearestFleet } from "./nearest.ts";
import type { FleetQuery, FleetSource } from "./source.ts";

export interface FleetFlags extends ListFlags {
  readonly all?: boolean;
  readonly needsMe?: boolean;
  readonly oneline?: boolean;
  readonly at?: number;
}

function headlineOf({ headline }: Row): Cell {
  return { text: headline, style: HEADLINE_COLOURS[headline] };
}

function placeOf(row: Row): Cell {
  return said(row, row.workspace === null ? "" : fromHome(row.workspace));
}

function sinceOf(row: Row, { nowMs }: View): Cell {
  return said(row, row.sinceMs === null ? "" : ago(row.sinceMs, nowMs));
}

/** The text is dim for an agent that is gone. */
function said({ headline }: Row, text: string): Cell {
  return headline === "GONE" ? { text, style: "dim" } : text;
}

const LOOK: Omit<ListLook<Row, FleetList>, "nothing"> = {
  noun: "agents",
  columns: [
    { title: "HEADLINE", cell: headlineOf },
    { title: "AGENT", least: 10, cell: (row) => said(row, row.name) },
    { title: "HOST", least: 4, isExtra: true, cell: (row) => said(row, row.host ?? "") },
    { title: "WORKSPACE", least: 12, isExtra: true, cut: "start", cell: placeOf },
    { title: "DOING", least: 28, cell: (row) => said(row, row.why) },
    { title: "SINCE", cell: sinceOf },
    {
      title: "ID",
      least: 12,
      isExtra: true,
      cell: (row, { id }) => ({ text: id(row.id), style: "dim" }),
    },
  ],
  below: ({ jobs }, { nowMs }) => {
    const unfinished = jobs?.newest.filter(({ endedAtMs }) => endedAtMs === 0) ?? [];
    // One job is what the row itself says.
    return unfinished.length > 1 ? unfinished.map((job) => jobCells(job, nowMs)) : [];
  },
  key: ({ id }) => id,
  summary: (answer) => summary(answer),
};

function jobCells(job: RowJob, nowMs: number): readonly Cell[] {
  const sinceMs = job.startedAtMs || job.submittedAtMs;
  const headline = job.question ? "NEEDS YOU" : "";
  return [
    { text: headline, style: HEADLINE_COLOURS["NEEDS YOU"] },
    { text: `└ ${job.agent}`, style: "dim" },
    "",
    "",
    job.why,
    ago(sinceMs, nowMs),
    { text: job.id, style: "dim" },
  ];
}

function nothingOf({ needsMe = false, at }: FleetFlags): string {
  if (at !== undefined) return `no agent ${needsMe ? "needed you" : "was here"} then`;
  if (needsMe) return "no agent needs you";
  return (
    "no agent is here; `rollcall hooks install` lets coding agents report, " +
    "--all shows those that are gone"
  );
}

export async function showFleet(context: Context, flags: FleetFlags): Promise<void> {
  const { at, oneline = false, watch = false } = flags;
  if (oneline && flags.json === true)
    throw invalidArgument("--oneline and --json exclude each other");
  await using fleet = new NearestFleet(context, flags);
  const source = sourceOf(fleet, queryOf(flags));
  const shown = { context, source, look: { ...LOOK, nothing: nothingOf(flags) }, flags };
  if (!oneline) return await showList(shown);
  const view = oneLineView(context);
  if (watch) return await showList({ ...shown, view: () => view });
  await noteMoment(context, at);
  await view.show(await source.fetch({ limit: 1 }));
}

/** As the API knows it. */
function queryOf({ all, needsMe = false, at }: FleetFlags): FleetQuery {
  return {
    ...(all !== undefined && { all }),
    ...(needsMe && { needs: "me" as const }),
    ...(at !== undefined && { at: String(at) }),
  };
}

function sourceOf(fleet: FleetSource, query: FleetQuery): ListSource<Row, FleetList> {
  return {
    get place() {
      return fleet.place;
    },
    fetch: (options) => fleet.list(query, options),
    changes: (options) => fleet.changes(options),
  };
}

/** A line whenever it is another one. */
export function oneLineView(context: Context): ListView<Row, FleetList> {
  const { out } = context;
  let shown: string | undefined;
  return {
    limit: 1,
    freshMs: UNSEEN_FRESH_MS,
    async show({ answer }) {
      const text = summary(answer, out);
      if (text === shown) return;
      shown = text;
      // A person at a terminal wants an answer; a status bar shows nothing.
      await out.line(text || (out.isTerminal ? "no agent is here" : ""));
    },
    trouble: (text) => note(context, text),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
