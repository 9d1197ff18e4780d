/** `rollcall directory`: agents that others can call, with the cards that tell what they do. */
import type { Tier } from "../../core/directory.ts";
import { shortDuration } from "../../core/words.ts";
import type { CardChange } from "../../directory/cards/diff.ts";
import type { DirectoryDetail, DirectoryRow } from "../../wires/api/answers.ts";
import { lookOf, note, printFacts } from "../print.ts";
import { limitFlag } from "../flags.ts";
import { tableRows, type ListSpec, type View } from "../listing.ts";
import { listOperation } from "../list-command.ts";
import { operation, type CommandRequest } from "../operation.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import type { Cell, FactRow } from "../terminal/table.ts";
import { ago, momentText } from "../terminal/time.ts";
import { truncate } from "../terminal/width.ts";

const COLOURS: Readonly<Record<Tier, Style>> = {
  unverified: "red",
  reachable: "yellow",
  owner: "green",
  signed: "green",
};

const FILTERS = { skill: "--skill SKILL", tag: "--tag TAG", tier: "--tier" } as const;

const VIEW: Pick<ListSpec<DirectoryRow>, "columns" | "key"> = {
  columns: [
    { title: "NAME", least: 12, cell: nameOf },
    { title: "TIER", cell: tierOf },
    { title: "SEEN", cell: seenOf },
    { title: "URL", least: 20, cell: ({ url }) => url },
    {
      title: "SKILLS",
      least: 10,
      isExtra: true,
      cell: ({ skills }) => skills.map(({ name }) => name).join(", "),
    },
    { title: "BROUGHT BY", isExtra: true, cell: ({ source }) => source },
  ],
  key: ({ url }) => url,
};

const NO_FIT = "no agent fits; `rollcall directory` shows all";

function nameOf({ name, tier }: DirectoryRow): Cell {
  if (name === "") return { text: "–", style: "dim" };
  return tier === "unverified" ? { text: name, style: "dim" } : name;
}

function seenOf({ intervalMs, lastHeartbeatAtMs }: DirectoryRow, { nowMs }: View): Cell {
  return intervalMs === 0 ? "by hand" : ago(lastHeartbeatAtMs, nowMs);
}

function tierOf({ tier, isChanging }: DirectoryRow): Cell {
  if (isChanging) return { text: `${tier}, changing`, style: "yellow" };
  return { text: tier, style: COLOURS[tier] };
}

const list = listOperation("directory.list", {
  words: FILTERS,
  examples: [
    { call: "rollcall directory", does: "all of them" },
    { call: "rollcall directory --tier owner --watch", does: "owned or signed cards only, live" },
    { call: "rollcall directory --skill translate --json", does: "for programs" },
  ],
  noun: "A2A agents",
  topics: ["directory."],
  ...VIEW,
  nothing: [
    "no A2A agents; they register by heartbeats, or `rollcall directory add URL` adds one",
    NO_FIT,
  ],
});

const get = operation("directory.get", {
  words: { url: "AGENT" },
  examples: [
    { call: "rollcall directory get Echo", does: "by its name or its URL" },
    { call: "rollcall directory get http://localhost:8001 --json", does: "with the whole card" },
  ],
  show,
});

async function show(
  answer: DirectoryDetail,
  { context }: CommandRequest<"directory.get">,
): Promise<void> {
  await printFacts(context, factsOf(answer.entry));
  const { changes = [], more = 0 } = answer.diff ?? {};
  if (changes.length === 0) return;
  await context.out.line("\nIt now says something else of itself, which is not verified yet:");
  for (const { text, style } of changes.flatMap(changeLines)) {
    const line = truncate(clean(text), context.out.columns);
    await context.out.line(context.out.paint(style, line));
  }
  if (more > 0) await note(context, `and ${more} more changes: --json shows both cards`);
}

function changeLines({ path, before, after }: CardChange): { text: string; style: Style }[] {
  return [
    ...(before === undefined ? [] : [{ text: `  - ${path}: ${before}`, style: "red" } as const]),
    ...(after === undefined ? [] : [{ text: `  + ${path}: ${after}`, style: "green" } as const]),
  ];
}

function factsOf(entry: DirectoryRow): readonly FactRow[] {
  const nowMs = Date.now();
  const { verification, intervalMs } = entry;
  return [
    ["url", entry.url],
    ["name", nameOf(entry)],
    ["tier", tierOf(entry)],
    ["description", entry.description],
    ...entry.skills.map(({ id, name, tags }) => {
      const tagged = tags.length === 0 ? "" : ` (${tags.join(", ")})`;
      return ["skill", `${name === id ? id : `${id}: ${name}`}${tagged}`] satisfies FactRow;
    }),
    ["verified", verification?.isConfirmed === true ? momentText(verification.atMs, nowMs) : ""],
    ["signature", entry.signature],
    ["from", verification?.from ?? ""],
    ["not verified", doubtOf(verification, nowMs)],
    ["seen", intervalMs === 0 ? "" : momentText(entry.lastHeartbeatAtMs, nowMs)],
    ["every", intervalMs === 0 ? "" : shortDuration(intervalMs)],
    ["here since", momentText(entry.registeredAtMs, nowMs)],
    ["brought by", entry.source],
    ["token", entry.isOwned ? "its owner has shown it" : ""],
  ];
}

function doubtOf(last: DirectoryRow["verification"], nowMs: number): string {
  return !last || last.isConfirmed ? "" : `${last.reason}, ${momentText(last.atMs, nowMs)}`;
}

const search = operation<"directory.list", SearchFlags>("directory.list", {
  about:
    "Find agents of the directory by what their cards say, best first: by meaning, not only by " +
    "word. It ends with 1 when none is found.",
  words: { q: "QUERY…", ...FILTERS },
  flags: { limit: limitFlag },
  fill: ({ tier = "reachable", limit = 10 }) => ({ tier, limit }),
  examples: [
    { call: "rollcall directory search translate contracts", does: "in plain words" },
    { call: "rollcall directory search ocr --tier owner --limit 3", does: "of the trusted ones" },
  ],
  isNothing: ({ entries }) => entries.length === 0,
  async show({ entries }, { context }) {
    if (entries.length === 0) return note(context, NO_FIT);
    const look = { look: lookOf(context), isWhole: !context.out.isTerminal };
    for (const line of tableRows(VIEW, { items: entries }, look)) await context.out.line(line);
  },
});

interface SearchFlags {
  readonly tier?: Tier;
  readonly limit?: number;
}

/** The time for the daemon to fetch a card, all candidates together. */
const FETCH_MS = 10_000;

const add = operation("directory.add", {
  words: { url: "URL" },
  examples: [{ call: "rollcall directory add http://localhost:8001", does: "and its card shows" }],
  ask: (send) => send({ waitMs: FETCH_MS }),
  show,
});

const verify = operation("directory.verify", {
  words: { url: "AGENT" },
  more: "It ends with 1 when the card is not verified.",
  examples: [
    { call: "rollcall directory verify http://localhost:8001", does: "after it was changed" },
  ],
  ask: (send) => send({ waitMs: FETCH_MS }),
  isNothing: ({ entry }) => entry.verification?.isConfirmed !== true,
  show,
});

const remove = operation("directory.remove", {
  words: { url: "AGENT" },
  examples: [{ call: "rollcall directory delete http://localhost:8001", does: "gone at once" }],
});

export const directory = { list, get, search, add, delete: remove, verify } as const;
