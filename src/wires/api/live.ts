/**
 * Operations that can be followed live: the same paths, for a caller that asks for
 * `text/event-stream`, with a query of their own, since a stream has no pages and no past.
 */
import { z } from "zod";
import type { By } from "../../core/by.ts";
import { sightOf } from "../../core/visibility.ts";
import { FILTERS, rowFor } from "../../operations/fleet.ts";
import { jobNow, jobs } from "../../operations/jobs.ts";
import type { OperationServices } from "../../operations/operation.ts";
import { hostOfCaller, outposts } from "../../operations/outposts.ts";
import { STATE } from "../../operations/questions.ts";
import { shownTo } from "../../operations/sight.ts";
import { TABLE, type OperationName } from "../../operations/table.ts";
import { placeFrame } from "./event-frames.ts";
import { placeOf } from "./event-query.ts";
import { framesOf } from "./event-stream.ts";
import { fleetSource, questionsSource, rowSource, timelineSource } from "./live-fleet.ts";
import { jobSource, OVER } from "./live-job.ts";
import { requestsSource } from "./live-outpost.ts";
import type { SseSource } from "./sse.ts";

/** Where a stream begins, and for whom. */
interface StreamContext {
  /** The id of the last event that it has, as its header says. */
  readonly lastEventId: string | undefined;
  /** The subscriber. */
  readonly by: By;
}

export interface Live<In extends z.ZodObject = z.ZodObject> {
  /** The events that come, and when. */
  readonly about: string;
  /** The fields of the path, and of the query. */
  readonly input: In;
  /** It remembers the whole fleet, and so there may be fewer of them. */
  readonly isLooker?: boolean;
  /** Resolves with how it starts, or nothing where all was told; rejects with why it cannot. */
  prepare(
    services: OperationServices,
    input: z.output<In>,
    place: StreamContext,
  ): Promise<(() => SseSource) | undefined>;
}

function live<In extends z.ZodObject>(described: Live<In>): Live {
  return described;
}

const ID = { id: z.string() } as const;
const from = z.string().optional().describe("The sequence of the last event that the caller has");

export const LIVE: Readonly<Partial<Record<OperationName, Live>>> = {
  "fleet.list": live({
    about:
      "`fleet` with all rows, then `change` with those that are new or different, or gone. A " +
      "large fleet comes in several: the rest of its rows as `change`. One that comes back with " +
      "the id of the last event that had one hears of what changed since, if that is known.",
    input: z.strictObject({ ...FILTERS, from }),
    isLooker: true,
    async prepare({ fleet }, { from: given, ...filters }, { lastEventId }) {
      return () => fleetSource(fleet, filters, placeOf(given, lastEventId));
    },
  }),
  "fleet.get": live({
    about: "`row` whenever it is another one, `gone` when it is no more.",
    input: z.strictObject(ID),
    isLooker: true,
    async prepare(services, { id }, { by }) {
      const { row } = await rowFor(services, { id, by });
      return () => rowSource(services.fleet, row.id);
    },
  }),
  "fleet.timeline": live({
    about: "The events so far, then new ones as they happen, as in `GET /v1/events`.",
    input: z.strictObject({ ...ID, from }),
    async prepare(services, { id, from: given }, { lastEventId, by }) {
      const { engine, fleet } = services;
      const stood = placeOf(given, lastEventId);
      const { row } = await rowFor(services, { id, by });
      // A caller that has a place needs nothing from before it.
      const timeline =
        stood === undefined
          ? await fleet.timeline(row, shownTo(engine, by.principal))
          : { events: [], sequence: stood, trail: fleet.trail(row) };
      return () => timelineSource({ engine, by }, timeline);
    },
  }),
  "questions.list": live({
    about: "`questions` with all of them, then `change` with those that are new, or gone.",
    input: z.strictObject({ state: STATE }),
    async prepare({ engine, fleet }, { state }, { by }) {
      return () => questionsSource({ engine, fleet, by }, state);
    },
  }),
  "outposts.requests": live({
    about: "`request` for each thing that is asked of the outpost, while the stream is open.",
    input: outposts.requests.input,
    async prepare({ outposts: service }, { session }, { by }) {
      const requests = service.requests(hostOfCaller(by), session);
      return () => requestsSource(requests);
    },
  }),
  "jobs.get": live({
    about:
      "`job` as it is, and whenever it is another. When it has ended, or is forgotten, `over` is " +
      "the last event; one that comes back with its id is answered with 204.",
    input: jobs.get.input,
    async prepare({ engine }, { jobId }, { lastEventId, by }) {
      await jobNow(engine, jobId, sightOf(by.principal));
      return lastEventId === OVER ? undefined : () => jobSource(engine, jobId, by);
    },
  }),
};

/** The events of the directory alone, from where the client stood. */
export const DIRECTORY_EVENTS = {
  path: "/v1/directory/events",
  access: TABLE.directory.list.access,
  ...live({
    about: "The events of the directory alone, as `GET /v1/events` tells them.",
    input: z.strictObject({ from }),
    async prepare({ engine }, input, { lastEventId, by }) {
      const stood = placeOf(input.from, lastEventId);
      const sight = sightOf(by.principal);
      return () => {
        const first = stood === undefined ? [placeFrame("bookmark", engine.head)] : [];
        const watch = engine.watch({
          prefixes: ["directory."],
          by,
          ...(stood !== undefined && { from: stood }),
        });
        return {
          frames: framesOf(watch, { first, sight }),
          cut: watch.cut,
          close: () => watch.close(),
        };
      };
    },
  }),
} as const;
