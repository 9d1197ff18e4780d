/**
 * The fleet: who is here, what is each doing, which one needs me; now or at a moment of the past.
 * Over HTTP the same is told live (wires/api/live.ts).
 */
import { z } from "zod";
import type { Access } from "../core/access.ts";
import type { By } from "../core/by.ts";
import { cursorOf, type Order, pageOf, placeIn } from "../core/pages.ts";
import { eventFor } from "../core/fencing.ts";
import { sightOf } from "../core/visibility.ts";
import { countsOf, type Counts } from "../fleet/census.ts";
import { isWanted, type FleetFilters } from "../fleet/filters.ts";
import { HEADLINES, isLongSilent, rowPlaceOf, type RowPlace } from "../fleet/headline.ts";
import { LOOKED } from "../fleet/indexes.ts";
import type { FoundRow } from "../fleet/fleet.ts";
import type { FleetThen } from "../fleet/past.ts";
import type { Row } from "../fleet/row.ts";
import { inSlices } from "../machine/slices.ts";
import { EVENT_SHAPE, eventAnswer } from "./events.ts";
import { AT, moment, SEQUENCE, someOf, text, yesOrNo } from "./fields.ts";
import { COUNTS, ROW_SHAPE } from "./fleet-shapes.ts";
import { TIMELINE_LIMITS } from "./limits.ts";
import { listJson, PAGE, PAGED } from "./lists.ts";
import { momentOf } from "./moments.ts";
import { operation, type Uses } from "./operation.ts";
import { report } from "./reports.ts";
import { shownTo } from "./sight.ts";

const AGENT = text(
  "An agent by its id, an alias, its name, or a part of one that no other has",
  "claude-7d5d6ca5",
);

const READ_ROW: Access = { action: "fleet.read", resource: "agent:{id}" };
const DISMISS_ROW: Access = { action: "fleet.dismiss", resource: "agent:{id}" };

interface RowQuery {
  readonly id: string;
  readonly by: By;
  readonly access?: Access;
  readonly atMs?: number | undefined;
}

/** The row that is meant, where the policies leave it to the caller, whatever it was called. */
export async function rowFor(
  { fleet, permit }: Uses<"fleet" | "permit">,
  { id, by, access = READ_ROW, atMs }: RowQuery,
): Promise<FoundRow> {
  const found = await fleet.find(id, atMs);
  permit(by, access, { id: found.row.id });
  return found;
}

const MOMENT = moment("Of which moment it is");

/** The order of rows at a moment. */
function orderAt({ atMs }: { readonly atMs: number }): Order<Row> {
  return { atMs: (row) => rowPlaceOf(row, atMs), key: ({ id }) => id };
}

/** The same where it is known. */
const BY_PLACE: Order<RowPlace> = { atMs: ({ place }) => place, key: ({ id }) => id };

/** The rows that are wanted, and how many there are of all; a step for each row. */
function* sift(
  { rows, atMs }: Pick<FleetThen, "rows" | "atMs">,
  filters: FleetFilters,
): Generator<void, { readonly wanted: readonly Row[]; readonly counts: Counts }> {
  const wanted: Row[] = [];
  const counted: Row[] = [];
  for (const row of rows) {
    if (isWanted(row, filters, atMs)) wanted.push(row);
    if (!isLongSilent(row, atMs)) counted.push(row);
    yield;
  }
  return { wanted, counts: countsOf(counted) };
}

/** As in fleet-filter.ts; the answer and its stream take the same. */
export const FILTERS = {
  headline: someOf(HEADLINES),
  host: text("Only those on this machine").optional(),
  workspacePrefix: text("Only agents that work below this folder").default(""),
  needs: z.enum(["me"]).optional().describe("Only agents that wait for a person"),
  all: z
    .boolean()
    .default(false)
    .describe("Also agents gone for more than an hour, or silent for more than a day"),
} as const;

const list = operation({
  path: "/v1/fleet",
  effect: "reads",
  access: { action: "fleet.read", resource: "agent:*" },
  brief: "List the fleet",
  about:
    "Every agent, what it does and whether it needs a person: those that do come first. One row " +
    "for each agent, whichever protocols it speaks.",
  input: z.strictObject({ ...FILTERS, ...PAGE, at: AT }),
  output: z.strictObject({
    sequence: PAGED.sequence,
    atMs: MOMENT,
    counts: COUNTS,
    total: PAGED.total,
    cursor: PAGED.cursor,
    isPartial: yesOrNo(
      `Below so wide a prefix it looked at ${LOOKED} agents and no further: total counts ` +
        "those of them that fit, and the page may be short; the cursor goes on",
    ).exactOptional(),
    rows: z.array(ROW_SHAPE),
  }),
  async run({ fleet }: Uses<"fleet">, { limit, cursor, at, ...filters }) {
    const thenMs = momentOf(at);
    if (thenMs !== undefined) {
      const { rows, sequence, atMs } = await fleet.at(thenMs);
      const { wanted, counts } = await inSlices(sift({ rows, atMs }, filters));
      const { items, ...page } = pageOf(wanted, orderAt({ atMs }), { limit, cursor });
      return { sequence, atMs, counts, ...page, rows: items };
    }
    const place = placeIn({ cursor });
    const after = place && { place: place.atMs, id: place.key };
    const { next, rows, ...page } = await fleet.page(filters, { limit, after });
    return { ...page, ...(next && { cursor: cursorOf(BY_PLACE, next) }), rows };
  },
  json: listJson("rows", orderAt),
});

const get = operation({
  path: "/v1/fleet/{id}",
  effect: "reads",
  access: READ_ROW,
  brief: "Show one agent of the fleet",
  about:
    "Why an agent is shown as it is: each of its four axes with the evidence, which source said " +
    "it, when, and by which rule it is believed.",
  input: z.strictObject({ id: AGENT, at: AT }),
  output: z.strictObject({ sequence: SEQUENCE, atMs: MOMENT, row: ROW_SHAPE }),
  async run(services: Uses<"fleet" | "permit">, { id, at }, { by }) {
    const { row, sequence, atMs } = await rowFor(services, { id, by, atMs: momentOf(at) });
    return { sequence, atMs, row };
  },
});

const timeline = operation({
  path: "/v1/fleet/{id}/timeline",
  effect: "reads",
  access: READ_ROW,
  brief: "Show the events of an agent",
  about:
    "The events of an agent that the caller may read, under all its names, the oldest first, as " +
    "far as the log reaches back.",
  input: z.strictObject({
    id: AGENT,
    limit: z
      .int()
      .min(1)
      .max(TIMELINE_LIMITS.timeline)
      .default(TIMELINE_LIMITS.timeline)
      .describe("How many at most, the last ones"),
  }),
  output: z.strictObject({ sequence: SEQUENCE, id: AGENT, events: z.array(EVENT_SHAPE) }),
  async run(services: Uses<"engine" | "fleet" | "permit">, { id: given, limit }, { by }) {
    const { engine, fleet } = services;
    const sight = sightOf(by.principal);
    const { row } = await rowFor(services, { id: given, by });
    const { id, events, sequence } = await fleet.timeline(row, shownTo(engine, by.principal));
    const shown = events.slice(-limit).map((each) => eventAnswer(sight, eventFor(each, by)));
    return { sequence, id, events: shown };
  },
});

const dismiss = operation({
  path: "/v1/fleet/dismiss",
  effect: "ends",
  access: DISMISS_ROW,
  brief: "Dismiss what was reported on an agent",
  about:
    "Take the reports on an agent away, with the questions that they asked. The row goes, but " +
    "for what the registry, the directory or its jobs know of it; a source that reports again " +
    "brings it back.",
  input: z.strictObject({ id: AGENT }),
  output: z.strictObject({ aliases: z.array(z.string()).describe("The sources of the reports") }),
  async run(services: Uses<"fleet" | "permit">, { id }, { by }) {
    const { row } = await rowFor(services, { id, by, access: DISMISS_ROW });
    return { aliases: await services.fleet.dismiss(row.aliases, by) };
  },
});

export const fleet = { list, get, timeline, report, dismiss } as const;
