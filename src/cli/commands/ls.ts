/** `rollcall ls`: who is here, what each does, and which one needs you. */
import { buildCommand } from "@stricli/core";
import { RollcallError } from "../../core/errors.ts";
import type { RowJob } from "../../fleet/job-agents.ts";
import type { Row } from "../../fleet/row.ts";
import type { FleetList } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { note } from "../daemon.ts";
import { HEADLINE_COLOURS, summary } from "../fleet/look.ts";
import { NearestFleet } from "../fleet/nearest.ts";
import type { FleetSource, ListedFleet } from "../fleet/source.ts";
import { atFlag, listFlags, type ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import type { ListView } from "../list-views.ts";
import { showList, type ListLook, type ListSource } from "../listing.ts";
import { fromHome } from "../terminal/path.ts";
import type { Cell } from "../terminal/table.ts";
import { ago, moment } from "../terminal/time.ts";

interface Flags extends ListFlags {
  readonly all?: boolean;
  readonly needsMe?: boolean;
  readonly oneline?: boolean;
  readonly at?: number;
}

function sourceOf(fleet: FleetSource, flags: Flags): ListSource<Row, FleetList> {
  const { all: isWhole = false, needsMe = false, at: atMs } = flags;
  return {
    get place() {
      return fleet.place;
    },
    fetch: (options) => fleet.list({ isWhole, needsMe, atMs }, options),
    changes: (options) => fleet.changes(options),
  };
}

function lookOf({ needsMe, at }: Flags): ListLook<Row, FleetList> {
  return {
    noun: "agents",
    columns: [
      { title: "HEADLINE" },
      { title: "AGENT", least: 10 },
      { title: "WORKSPACE", least: 12, isExtra: true, cut: "start" },
      { title: "DOING", least: 28 },
      { title: "SINCE" },
      { title: "ID", least: 12, isExtra: true },
    ],
    cells: (row, { nowMs, id }) => {
      const isOver = row.headline === "GONE";
      const said = (text: string): Cell => (isOver ? { text, style: "dim" } : text);
      return [
        { text: row.headline, style: HEADLINE_COLOURS[row.headline] },
        said(row.name),
        said(row.workspace === null ? "" : fromHome(row.workspace)),
        said(row.why),
        said(row.sinceMs === null ? "" : ago(row.sinceMs, nowMs)),
        { text: id(row.id), style: "dim" },
      ];
    },
    below: ({ jobs }, { nowMs }) => {
      const unfinished = jobs?.newest.filter(({ endedAtMs }) => endedAtMs === 0) ?? [];
      // One job is what the row itself says.
      return unfinished.length > 1 ? unfinished.map((job) => jobCells(job, nowMs)) : [];
    },
    key: ({ id }) => id,
    nothing:
      at !== undefined
        ? `nobody ${needsMe === true ? "needed you" : "was here"} then`
        : needsMe === true
          ? "nobody needs you"
          : "nobody is here; --all shows who is gone, `rollcall emit --help` how to show up",
    summary: (answer) => summary(answer),
  };
}

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

export const ls = buildCommand<Flags, [], Context>({
  docs: {
    brief: "Who is here, what each does, and which one needs you",
    fullDescription: about(
      "Who is here, what each does, and which one needs you: that one first. Without a daemon " +
        "on this machine it is told from the status files.",
      { call: "rollcall ls", does: "everybody, but for those gone for an hour" },
      { call: "rollcall ls --needs-me", does: "only who waits for you" },
      { call: "rollcall ls --watch", does: "the same, live" },
      { call: "rollcall ls --oneline", does: "2 need you · 5 working · 3 idle" },
      { call: "rollcall at 14:03 ls", does: "as it was then" },
    ),
  },
  parameters: {
    flags: {
      needsMe: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Only those that wait for a person",
      },
      all: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "Those gone for long as well",
      },
      oneline: {
        kind: "boolean",
        optional: true,
        withNegated: false,
        brief: "How many of each, on one line: for a prompt or a status bar",
      },
      at: atFlag,
      ...listFlags,
    },
  },
  async func(flags) {
    await using fleet = new NearestFleet(this, flags);
    if (flags.at !== undefined) {
      if (flags.watch === true) throw usage("--at and --watch exclude each other");
      await note(this, `as of ${moment(flags.at, Date.now())}`);
    }
    const source = sourceOf(fleet, flags);
    const shown = { context: this, source, look: lookOf(flags), flags };
    if (flags.oneline !== true) return await showList(shown);
    if (flags.json === true) throw usage("--oneline and --json exclude each other");
    const view = new OneLine(this);
    if (flags.watch === true) return await showList({ ...shown, view: () => view });
    await view.show(await source.fetch({ limit: 1 }));
  },
});

function usage(message: string): RollcallError {
  return new RollcallError("INVALID_ARGUMENT", message);
}

/** A line whenever it is another one. */
class OneLine implements ListView<Row, FleetList> {
  readonly #context: Context;
  readonly limit = 1;
  readonly freshMs = undefined;
  #shown: string | undefined;

  constructor(context: Context) {
    this.#context = context;
  }

  async show({ answer }: ListedFleet): Promise<void> {
    const { out } = this.#context;
    const line = summary(answer, out);
    if (line === this.#shown) return;
    this.#shown = line;
    // Somebody who looks wants an answer; a status bar wants nothing to show.
    await out.line(line || (out.isTerminal ? "nobody is here" : ""));
  }

  trouble(text: string): Promise<void> {
    return note(this.#context, text);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
