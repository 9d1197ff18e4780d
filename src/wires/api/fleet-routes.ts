/**
 * The fleet over HTTP: who is here, what is each doing, which one needs me; now or at a moment of
 * the past. Whoever asks for `text/event-stream` gets the same thing live.
 */
import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { Hono, type Context } from "hono";
import { z } from "zod";
import type { Question } from "../../core/questions.ts";
import type { Engine } from "../../engine/engine.ts";
import { countsOf } from "../../fleet/census.ts";
import type { Fleet, Timeline } from "../../fleet/fleet.ts";
import { placeOf } from "../../fleet/headline.ts";
import type { Row } from "../../fleet/row.ts";
import { Trail } from "../../fleet/trail.ts";
import { eventText } from "./event-frames.ts";
import { placeOf as placeAsked } from "./event-query.ts";
import { isWanted } from "./fleet-filter.ts";
import { FLEET, FLEET_LIVE, momentOf } from "./fleet-query.ts";
import { FLEET_LIST } from "./limits.ts";
import { fleetSource, questionsSource, rowSource, timelineSource } from "./live-fleet.ts";
import { matching, pageOf, sendPage, type Order } from "./pages.ts";
import { bodyOf, LIST_QUERY, queryOf, wantsStream, wholeText } from "./parse.ts";
import { REPORT, reportOf } from "./report-body.ts";
import type { Source, Streams } from "./sse.ts";

export interface FleetRoutesOptions {
  readonly engine: Engine;
  readonly fleet: Fleet;
  readonly streams: Streams;
  /** Those that remember the whole fleet; there may be fewer of them. */
  readonly lookers: Streams;
}

const QUESTION_STATES = ["open", "answered", "withdrawn", "expired"] as const;

const AT = { at: z.string().optional() } as const;
const NOTHING = z.strictObject({});
const ROW = z.strictObject(AT);
const LIVE_TIMELINE = z.strictObject({ from: z.string().optional() });
const LIVE_QUESTIONS = z.strictObject({ state: z.array(z.enum(QUESTION_STATES)) });
const QUESTIONS = z.strictObject({ ...LIVE_QUESTIONS.shape, ...LIST_QUERY, ...AT });
const TIMELINE = z.strictObject({
  limit: wholeText.pipe(z.number().min(1).max(FLEET_LIST.timeline)).default(FLEET_LIST.timeline),
});

const ROW_ORDER: Order<Row> = { atMs: placeOf, key: ({ id }) => id };
const QUESTION_ORDER: Order<Question> = { atMs: ({ sinceMs }) => sinceMs, key: ({ id }) => id };

type Api = Context<{ Bindings: HttpBindings }>;

export function fleetRoutes(options: FleetRoutesOptions): Hono<{ Bindings: HttpBindings }> {
  const { engine, fleet } = options;
  const routes = new Hono<{ Bindings: HttpBindings }>();
  const look = live(options.lookers);
  const follow = live(options.streams);
  routes.get("/fleet", (c) => {
    if (!wantsStream(c)) return list(c, fleet);
    const filters = queryOf(c, FLEET_LIVE);
    return look(c, () => fleetSource(fleet, filters));
  });
  routes.get("/fleet/:id", async (c) => {
    const given = c.req.param("id");
    if (wantsStream(c)) {
      queryOf(c, NOTHING);
      const { row } = await fleet.find(given);
      return look(c, () => rowSource(fleet, row.id));
    }
    const { row, sequence, atMs } = await fleet.find(given, momentOf(queryOf(c, ROW).at));
    return c.json({ sequence, atMs, row });
  });
  routes.get("/fleet/:id/timeline", async (c) => {
    const given = c.req.param("id");
    if (!wantsStream(c)) {
      const { limit } = queryOf(c, TIMELINE);
      return sendTimeline(c, await fleet.timeline((await fleet.find(given)).row), limit);
    }
    const from = placeAsked(queryOf(c, LIVE_TIMELINE).from, c.req.header("last-event-id"));
    const { row } = await fleet.find(given);
    // Who says where it stood needs nothing of what was before.
    const timeline =
      from === undefined
        ? await fleet.timeline(row)
        : { events: [], sequence: from, trail: new Trail(row) };
    return follow(c, () => timelineSource(engine, timeline));
  });
  routes.get("/questions", (c) => {
    if (!wantsStream(c)) return listQuestions(c, fleet);
    const { state } = queryOf(c, LIVE_QUESTIONS);
    return follow(c, () => questionsSource(engine, fleet, state));
  });
  routes.post("/fleet/reports", async (c) => {
    const report = reportOf(await bodyOf(c, REPORT), engine.nowMs);
    return c.json({ isNew: await fleet.report(report) });
  });
  return routes;
}

function live(streams: Streams) {
  return async (c: Api, start: () => Source): Promise<Response> => {
    await streams.send(c.env.outgoing, start);
    return RESPONSE_ALREADY_SENT;
  };
}

async function list(c: Api, fleet: Fleet): Promise<Response> {
  const { limit, cursor, at, ...filters } = queryOf(c, FLEET);
  const moment = momentOf(at);
  const { rows, sequence, atMs } = await (moment === undefined ? fleet.rows() : fleet.at(moment));
  const wanted = matching(rows, (row) => isWanted(row, filters, atMs));
  const page = pageOf(wanted, ROW_ORDER, { limit, cursor });
  const facts = { atMs, counts: countsOf(rows) };
  return sendPage(c, { name: "rows", order: ROW_ORDER, sequence, page, facts });
}

function sendTimeline(c: Api, { id, events, sequence }: Timeline, limit: number): Response {
  const head = JSON.stringify({ sequence, id }).slice(0, -1);
  const text = `${head},"events":[${events.slice(-limit).map(eventText).join(",")}]}`;
  return c.body(text, 200, { "Content-Type": "application/json" });
}

async function listQuestions(c: Api, fleet: Fleet): Promise<Response> {
  const { state, limit, cursor, at } = queryOf(c, QUESTIONS);
  const moment = momentOf(at);
  const asked = await (moment === undefined ? fleet.questions() : fleet.at(moment));
  const isAsked = (each: Question) => state.length === 0 || state.includes(each.state);
  const { sequence, atMs } = asked;
  const page = pageOf(matching(asked.questions, isAsked), QUESTION_ORDER, { limit, cursor });
  return sendPage(c, {
    name: "questions",
    order: QUESTION_ORDER,
    sequence,
    page,
    facts: { atMs },
  });
}
