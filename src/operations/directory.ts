/**
 * The directory of A2A agents, for its operator: all entries with what is known of them, also those
 * that are not served, and what may be done about them. Prose is cleaned; the cards themselves are
 * as their authors wrote them, character by character.
 */
import { z } from "zod";
import type { Access } from "../core/access.ts";
import { entryAsSeen, TIERS, type CardText, type DirectoryEntry } from "../core/directory.ts";
import { refusalError } from "../core/errors.ts";
import { seek } from "../core/meant.ts";
import { inSlices } from "../machine/slices.ts";
import type { DirectoryService } from "../directory/directory.ts";
import { QUERY } from "../directory/limits.ts";
import { isWantedEntry } from "../directory/query.ts";
import { shownCardOf } from "../directory/shown-card.ts";
import { SEARCH } from "../search/limits.ts";
import { moment, OWNER, SEQUENCE, text, whole, yesOrNo } from "./fields.ts";
import { FILTERED, listPage, PAGE } from "./lists.ts";
import { operation, type Answer, type Uses } from "./operation.ts";

const URL_FIELD = z
  .string()
  .min(1)
  .meta({ description: "The URL of the agent", examples: ["http://localhost:8001"] });

const ONE_URL = z.strictObject({ url: URL_FIELD });

const TIER = z.enum(TIERS);

const ENTRY = z
  .strictObject({
    url: URL_FIELD,
    origin: z.string().meta({ examples: ["http://localhost:8001"] }),
    source: text("The caller that registered it", "local"),
    owner: OWNER,
    tier: TIER.describe("How far it can be trusted, the least first"),
    isOwned: yesOrNo("Its heartbeats came with the token issued at first sight"),
    verification: z
      .strictObject({
        isConfirmed: z.boolean(),
        atMs: moment("When it was"),
        from: text("Where the card was fetched from; empty when none was"),
        reason: text("Why not; empty when it was confirmed"),
      })
      .nullable()
      .describe("The result of the last fetch of its card"),
    intervalMs: whole("Between two heartbeats; 0 for one that stays until removed"),
    ttlMs: whole("How long it may be silent"),
    registeredAtMs: moment("When it came"),
    changedAtMs: moment("When a heartbeat last said something else than before"),
    lastHeartbeatAtMs: moment("When it was last heard"),
    name: z.string().meta({ examples: ["Echo"] }),
    description: z.string().meta({ examples: ["Says it again"] }),
    skills: z.array(
      z.strictObject({ id: z.string(), name: z.string(), tags: z.array(z.string()) }),
    ),
    signature: text("By which key its card is signed, or why that is not believed"),
    isServed: yesOrNo("Its card was fetched: others see it"),
    isChanging: yesOrNo("It says something else of itself, not verified yet"),
  })
  .meta({ id: "DirectoryEntry" });

const DETAIL = z.strictObject({
  sequence: SEQUENCE,
  entry: ENTRY,
  diff: z
    .strictObject({
      changes: z.array(
        z.strictObject({
          path: z.string().meta({ examples: ["skills[translate].tags[0]"] }),
          before: text("JSON; absent where there was nothing").exactOptional(),
          after: z.string().exactOptional(),
        }),
      ),
      more: whole("How many there are beyond those listed"),
    })
    .nullable()
    .describe("The changes that the waiting card would make"),
  card: z.unknown().describe("The card that is served, as its author wrote it; null for none"),
  waiting: z.unknown().describe("The card that waits to be verified; null for none"),
});

const list = operation({
  path: "/v1/directory",
  effect: "reads",
  access: { action: "directory.read", resource: "directory:*" },
  brief: "List the agents that others can call",
  about:
    "List the agents that others can call, the first to come first, and how far each can be " +
    "trusted: unverified (its card was never fetched), reachable (it was), owner (the card is " +
    "its own, or its owner has shown the token), signed (by a key we trust).",
  input: z.strictObject({
    ...PAGE,
    q: z
      .string()
      .max(SEARCH.queryLength)
      .optional()
      .meta({
        description: "The need, in plain words: the best come first, on one page",
        examples: ["translate contracts"],
      }),
    skill: z.string().max(QUERY.wordLength).optional().describe("Only those with this skill"),
    tag: z.string().max(QUERY.wordLength).optional().describe("Only those with a skill so tagged"),
    tier: TIER.default("unverified").describe(
      "Only agents of this tier of trust, or of a higher one",
    ),
  }),
  output: z.strictObject({ ...FILTERED, entries: z.array(ENTRY) }),
  async run({ engine, directory }: Uses<"engine" | "directory">, input) {
    const { q = "", limit, cursor, ...filters } = input;
    const { skill, tag } = filters;
    if (q.trim() !== "" || (skill === undefined && tag === undefined)) {
      const { entries, ...page } = await directory.list(input);
      return { ...page, entries: entries.map(rowOf) };
    }
    await directory.readCards();
    const { items, ...facts } = await listPage(
      {
        engine,
        list: (lists) => lists.directory,
        isWanted: ({ entry }) => isWantedEntry(entry, filters),
        show: (record) => rowOf(entryAsSeen(record)),
      },
      { limit, cursor },
    );
    return { ...facts, entries: items };
  },
});

const READ: Access = { action: "directory.read", resource: "directory:{url}" };

const get = operation({
  path: "/v1/directory/{url}",
  effect: "reads",
  access: READ,
  brief: "Show one agent of the directory",
  about: "Show one agent of the directory with its card, and the changes that wait to be verified.",
  input: z.strictObject({
    url: URL_FIELD.describe("The URL of the agent, its name, or a part of it that no other has"),
  }),
  output: DETAIL,
  async run({ directory, permit }: Uses<"directory" | "permit">, { url: given }, { by }) {
    const url = await urlOf(directory, given);
    permit(by, READ, { url });
    return detailOf(directory, url);
  },
  json: detailJson,
});

const ADDING = { action: "directory.add", resource: "directory:{url}" } as const;

const add = operation({
  path: "/v1/directory/add",
  effect: "sets",
  access: ADDING,
  brief: "Add an agent to the directory",
  about:
    "Add an agent that sends no heartbeats: its card is fetched now, and it stays until it is " +
    "removed. The daemon fetches it, so the URL is one that the daemon can reach.",
  input: ONE_URL,
  output: DETAIL,
  async run({ directory, permit }: Uses<"directory" | "permit">, { url }, { by }) {
    const check = (own: string) => permit(by, ADDING, { url: own });
    return detailOf(directory, (await directory.add(url, by, check)).url);
  },
  json: detailJson,
});

const verify = operation({
  path: "/v1/directory/verify",
  effect: "sets",
  access: { action: "directory.verify", resource: "directory:{url}" },
  brief: "Fetch the card of an agent anew",
  about: "Fetch the card of an agent anew, now, and show the result.",
  input: ONE_URL,
  output: DETAIL,
  run: async ({ directory }: Uses<"directory">, { url }) =>
    detailOf(directory, (await directory.verify(url)).url),
  json: detailJson,
});

const remove = operation({
  path: "/v1/directory/remove",
  effect: "ends",
  access: { action: "directory.remove", resource: "directory:{url}" },
  brief: "Remove an agent from the directory",
  about: "Remove an agent from the directory. A heartbeat brings it back.",
  input: ONE_URL,
  output: z.strictObject({}),
  async run({ directory }: Uses<"directory">, { url }, { by }) {
    await directory.remove(url, by);
    return {};
  },
});

export const directory = { list, get, add, verify, remove } as const;

/** The URL of an agent that is given by it, by its name, or by a part of that. */
async function urlOf(service: DirectoryService, word: string): Promise<string> {
  if (word.includes("://")) return word;
  const { entries } = await service.list({ tier: "unverified" });
  const search = { word, noun: "agent", place: " in the directory" };
  const found = await inSlices(seek(entries, namesOf, search));
  if (!found.ok) throw refusalError(found);
  return found.item.url;
}

function namesOf(entry: DirectoryEntry) {
  return { id: entry.url, name: rowOf(entry).name, isHere: entry.card !== null };
}

function rowOf(entry: DirectoryEntry): Answer<typeof ENTRY> {
  const { card, waiting, proof, heard: _, ...rest } = entry;
  const prose = card ? shownCardOf(card).prose : undefined;
  const said = waiting ? shownCardOf(waiting).prose : undefined;
  return {
    ...rest,
    // Of one that was never fetched it is hearsay, as its tier tells.
    name: (prose ?? said)?.name ?? "",
    description: prose?.description ?? "",
    skills: prose?.skills.map(({ id, name, tags }) => ({ id, name, tags })) ?? [],
    signature: proof.signature,
    isServed: card !== null,
    isChanging: card !== null && waiting !== null,
  };
}

async function detailOf(service: DirectoryService, url: string): Promise<Answer<typeof DETAIL>> {
  const { entry, prose, diff, sequence } = await service.get(url);
  const { name, description } = prose;
  const { card, waiting } = entry;
  return { sequence, entry: { ...rowOf(entry), name, description }, diff, card, waiting };
}

/** The cards are put in as text, so that not a character of them changes. */
function detailJson({ card, waiting, ...facts }: Answer<typeof DETAIL>): string {
  const [served, next] = [card, waiting].map((each) => (each as CardText | null)?.text ?? "null");
  return `${JSON.stringify(facts).slice(0, -1)},"card":${served},"waiting":${next}}`;
}
