/** `rollcall directory`: agents that others can call, with the cards that tell what they do. */
import { buildCommand } from "@stricli/core";
import type { CardChange } from "../../directory/cards/diff.ts";
import { TIERS, type Tier } from "../../core/directory.ts";
import { shortDuration } from "../../core/words.ts";
import type { DirectoryDetail, DirectoryList, DirectoryRow } from "../../wires/api/answers.ts";
import type { Context } from "../context.ts";
import { daemonOf, itemPath, lookOf, note, pathOf, printJson, read } from "../daemon.ts";
import { EXIT } from "../exit.ts";
import { answerFlags, argument, limitFlag, listFlags, textFlag } from "../flags.ts";
import type { AnswerFlags, ListFlags } from "../flags.ts";
import { about } from "../help.ts";
import { list, rowsOf, type Listing } from "../listing.ts";
import { clean } from "../terminal/clean.ts";
import type { Style } from "../terminal/output.ts";
import { factLines, type Cell } from "../terminal/table.ts";
import { ago, moment } from "../terminal/time.ts";
import { truncate } from "../terminal/width.ts";

const COLOURS: Readonly<Record<Tier, Style>> = {
  unverified: "red",
  reachable: "yellow",
  owner: "green",
  signed: "green",
};

const URL_ARGUMENT = argument("URL", "The agent's URL, as the list shows it");

const tierFlag = {
  kind: "enum",
  values: TIERS,
  optional: true,
  brief: "Only those that can be trusted so far, or further",
} as const;

interface Filters {
  readonly skill?: string;
  readonly tag?: string;
  readonly tier?: Tier;
}

const filterFlags = {
  skill: textFlag("SKILL", "Only those that have it, by its id or name"),
  tag: textFlag("TAG", "Only those with a skill that has it"),
  tier: tierFlag,
} as const;

function listing({ skill, tag, tier }: Filters): Listing<DirectoryRow> {
  const isFiltered = skill !== undefined || tag !== undefined || tier !== undefined;
  return {
    noun: "directory",
    source: { path: "/v1/directory", field: "entries" },
    params: { skill, tag, tier },
    topics: ["directory."],
    columns: [
      { title: "NAME", least: 12 },
      { title: "TIER" },
      { title: "SEEN" },
      { title: "URL", least: 20 },
      { title: "SKILLS", least: 10, isExtra: true },
      { title: "BROUGHT BY", isExtra: true },
    ],
    cells: (entry, { nowMs }) => [
      nameOf(entry),
      tierOf(entry),
      entry.intervalMs === 0 ? "by hand" : ago(entry.lastHeartbeatAtMs, nowMs),
      entry.url,
      entry.skills.map(({ name }) => name).join(", "),
      entry.source,
    ],
    key: ({ url }) => url,
    nothing: isFiltered
      ? "no agent fits; `rollcall directory` shows all"
      : "no agents; they send heartbeats, or `rollcall directory add URL` adds one",
  };
}

function nameOf({ name, tier }: DirectoryRow): Cell {
  if (name === "") return { text: "–", style: "dim" };
  return tier === "unverified" ? { text: name, style: "dim" } : name;
}

function tierOf({ tier, isChanging }: DirectoryRow): Cell {
  if (isChanging) return { text: `${tier}, changing`, style: "yellow" };
  return { text: tier, style: COLOURS[tier] };
}

export const directoryList = buildCommand<Filters & ListFlags, [], Context>({
  docs: {
    brief: "List the agents that others can call",
    fullDescription: about(
      "List the agents that others can call, the first to come first, and how far each can be " +
        "trusted: unverified (its card was never fetched), reachable (it was), owner (the card " +
        "is its own, or who registered it has shown its token), signed (by a key we trust).",
      { call: "rollcall directory", does: "all of them" },
      { call: "rollcall directory --tier owner --watch", does: "those one can trust, live" },
      { call: "rollcall directory --skill translate --json", does: "for programs" },
    ),
  },
  parameters: { flags: { ...filterFlags, ...listFlags } },
  async func(flags) {
    await list(this, flags, () => listing(flags));
  },
});

export const directoryGet = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Show one agent, and what of its card waits to change",
    fullDescription: about(
      "Show one agent of the directory: what its card says, whether and from where it was " +
        "fetched, and, when it now says something else of itself, what that would change.",
      { call: "rollcall directory get http://localhost:8001", does: "for people" },
      { call: "rollcall directory get http://localhost:8001 --json", does: "with the whole card" },
    ),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [URL_ARGUMENT] } },
  async func(flags, url) {
    await using daemon = daemonOf(this, flags);
    await show(this, flags, await read(daemon, itemPath("/v1/directory", url)));
  },
});

async function show(context: Context, flags: AnswerFlags, answer: DirectoryDetail): Promise<void> {
  if (flags.json === true) return printJson(context, answer);
  const look = lookOf(context);
  for (const line of factLines(factsOf(answer.entry), look)) await context.out.line(line);
  const { changes = [], more = 0 } = answer.diff ?? {};
  if (changes.length === 0) return;
  await context.out.line("\nIt now says something else of itself, which is not verified yet:");
  for (const { text, style } of changes.flatMap(changeLines)) {
    const line = truncate(clean(text), look.width);
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

function factsOf(entry: DirectoryRow): readonly (readonly [string, Cell])[] {
  const nowMs = Date.now();
  const { verification, intervalMs } = entry;
  return [
    ["url", entry.url],
    ["name", nameOf(entry)],
    ["tier", tierOf(entry)],
    ["description", entry.description],
    ...entry.skills.map(({ id, name, tags }) => {
      const tagged = tags.length === 0 ? "" : ` (${tags.join(", ")})`;
      return ["skill", `${name === id ? id : `${id}: ${name}`}${tagged}`] as const;
    }),
    ["verified", verification?.isConfirmed === true ? moment(verification.atMs, nowMs) : ""],
    ["signature", entry.signature],
    ["from", verification?.from ?? ""],
    ["not verified", doubtOf(verification, nowMs)],
    ["seen", intervalMs === 0 ? "" : moment(entry.lastHeartbeatAtMs, nowMs)],
    ["every", intervalMs === 0 ? "" : shortDuration(intervalMs)],
    ["here since", moment(entry.registeredAtMs, nowMs)],
    ["brought by", entry.source],
    ["token", entry.isOwned ? "its owner has shown it" : ""],
  ];
}

function doubtOf(last: DirectoryRow["verification"], nowMs: number): string {
  return !last || last.isConfirmed ? "" : `${last.reason}, ${moment(last.atMs, nowMs)}`;
}

interface SearchFlags extends Filters, AnswerFlags {
  readonly limit?: number;
}

export const directorySearch = buildCommand<SearchFlags, readonly string[], Context>({
  docs: {
    brief: "Find agents of the directory by what they are good at",
    fullDescription: about(
      "Find agents of the directory by what their cards say, best first: by meaning, not only by " +
        "word. Nobody found is 1.",
      { call: "rollcall directory search translate contracts", does: "in plain words" },
      { call: "rollcall directory search ocr --tier owner --limit 3", does: "of the trusted ones" },
    ),
  },
  parameters: {
    flags: {
      ...filterFlags,
      limit: limitFlag,
      ...answerFlags,
    },
    positional: {
      kind: "array",
      minimum: 1,
      parameter: { brief: "What is needed, in words", parse: String, placeholder: "QUERY" },
    },
  },
  async func({ limit = 10, skill, tag, tier = "reachable", ...flags }, ...words) {
    await using daemon = daemonOf(this, flags);
    const query = { q: words.join(" "), skill, tag, tier, limit };
    const answer = await read<DirectoryList>(daemon, pathOf("/v1/directory", query));
    if (answer.entries.length === 0) this.endWith(EXIT.nothingFound);
    if (flags.json === true) return await printJson(this, answer);
    const found = listing({ tier });
    if (answer.entries.length === 0) return await note(this, found.nothing);
    const look = { look: lookOf(this), isWhole: !this.out.isTerminal };
    for (const line of rowsOf(found, { items: answer.entries }, look)) await this.out.line(line);
  },
});

export const directoryAdd = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Add an agent by its URL, until it is removed",
    fullDescription: about(
      "Add an agent that sends no heartbeats: its card is fetched now, and it stays until it is " +
        "removed. The daemon fetches it, so the URL is one that the daemon can reach.",
      { call: "rollcall directory add http://localhost:8001", does: "and its card shows" },
    ),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [URL_ARGUMENT] } },
  async func(flags, url) {
    await using daemon = daemonOf(this, flags);
    const answer = await daemon.post("/v1/directory/add", { url }, { waitMs: FETCH_MS });
    await show(this, flags, answer as unknown as DirectoryDetail);
  },
});

/** What the daemon may take to fetch a card, all candidates together. */
const FETCH_MS = 10_000;

export const directoryVerify = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Fetch the card of an agent anew, now",
    fullDescription: about(
      "Fetch the card of an agent anew, now, and show what came of it. Not verified is 1.",
      { call: "rollcall directory verify http://localhost:8001", does: "after it was changed" },
    ),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [URL_ARGUMENT] } },
  async func(flags, url) {
    await using daemon = daemonOf(this, flags);
    const answer = await daemon.post("/v1/directory/verify", { url }, { waitMs: FETCH_MS });
    const detail = answer as unknown as DirectoryDetail;
    if (detail.entry.verification?.isConfirmed !== true) this.endWith(EXIT.nothingFound);
    await show(this, flags, detail);
  },
});

export const directoryRemove = buildCommand<AnswerFlags, [string], Context>({
  docs: {
    brief: "Remove an agent; a heartbeat would bring it back",
    fullDescription: about("Remove an agent from the directory. A heartbeat brings it back.", {
      call: "rollcall directory rm http://localhost:8001",
      does: "gone at once",
    }),
  },
  parameters: { flags: answerFlags, positional: { kind: "tuple", parameters: [URL_ARGUMENT] } },
  async func(flags, url) {
    await using daemon = daemonOf(this, flags);
    const answer = await daemon.post("/v1/directory/remove", { url });
    if (flags.json === true) await printJson(this, answer);
  },
});
