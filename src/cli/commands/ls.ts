/** `rollcall ls`: who is here, what each does, and which one needs you. */
import { invalidArgument } from "../../core/errors.ts";
import type { RowJob } from "../../fleet/job-agents.ts";
import type { Row } from "../../fleet/row.ts";
import type { FleetList } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { note, noteMoment } from "../daemon.ts";
import { HEADLINE_COLOURS, summary } from "../fleet/look.ts";
import { NearestFleet } from "../fleet/nearest.ts";
import type { FleetQuery, FleetSource } from "../fleet/source.ts";
import { listFlags, switchFlag, type ListFlags } from "../flags.ts";
import type { ListView } from "../list-views.ts";
import { showList, type ListLook, type ListSource, type View } from "../listing.ts";
import { commandLine } from "../operation.ts";
import { fromHome } from "../terminal/path.ts";
import type { Cell } from "../terminal/table.ts";
import { ago } from "../terminal/time.ts";

interface Flags {
  readonly needsMe?: boolean;
  readonly oneline?: boolean;
  readonly at?: number;
}

const line = commandLine<Flags>("fleet.list", {
  words: { all: "--all", at: "--at TIME" },
  flags: {
    needsMe: switchFlag("Only agents that wait for a person"),
    oneline: switchFlag("Counts on one line, for a prompt or a status bar"),
  },
  fill: ({ needsMe = false }) => (needsMe ? { needs: "me" } : {}),
  more: "Without a daemon on this machine it is told from the status files.",
  examples: [
    { call: "rollcall ls", does: "all but agents gone for an hour" },
    { call: "rollcall ls --needs-me", does: "only agents that wait for you" },
    { call: "rollcall ls --watch", does: "the same, live" },
    { call: "rollcall ls --oneline", does: "2 need you · 5 working · 3 idle" },
    { call: "rollcall at 14:03 ls", does: "as it was then" },
  ],
});

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
    job.why,
    ago(sinceMs, nowMs),
    { text: job.id, style: "dim" },
  ];
}

function nothingOf({ needsMe = false, at }: Flags): string {
  if (at !== undefined) return `nobody ${needsMe ? "needed you" : "was here"} then`;
  if (needsMe) return "nobody needs you";
  return "nobody is here; --all shows who is gone, `rollcall emit --help` how to show up";
}

export const ls = line.command<ListFlags>(listFlags, async (context, typed) => {
  const { flags } = typed;
  const { at, oneline = false, watch = false } = flags;
  if (oneline && flags.json === true)
    throw invalidArgument("--oneline and --json exclude each other");
  await using fleet = new NearestFleet(context, flags);
  const query = (await line.input({ ...typed, daemon: fleet.daemon, context })) as FleetQuery;
  const source = sourceOf(fleet, query);
  const shown = { context, source, look: { ...LOOK, nothing: nothingOf(flags) }, flags };
  if (!oneline) return await showList(shown);
  const view = oneLineView(context);
  if (watch) return await showList({ ...shown, view: () => view });
  await noteMoment(context, at);
  await view.show(await source.fetch({ limit: 1 }));
});

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
function oneLineView(context: Context): ListView<Row, FleetList> {
  const { out } = context;
  let shown: string | undefined;
  return {
    limit: 1,
    freshMs: undefined,
    async show({ answer }) {
      const text = summary(answer, out);
      if (text === shown) return;
      shown = text;
      // Somebody who looks wants an answer; a status bar wants nothing to show.
      await out.line(text || (out.isTerminal ? "nobody is here" : ""));
    },
    trouble: (text) => note(context, text),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}
