/**
 * The fleet and its questions as they change, for server-sent events. A stream begins with the
 * whole, then tells what is new. A subscriber of the fleet that comes back with the id of its last
 * event hears of what changed since, where that is still known, and else of the whole again; one of
 * questions always begins with the whole. A timeline is events, and goes on where it was.
 */
import type { By } from "../../core/by.ts";
import { eventFor } from "../../core/fencing.ts";
import type { QuestionState } from "../../core/questions.ts";
import { sightOf, type Sight } from "../../core/visibility.ts";
import type { Engine } from "../../engine/engine.ts";
import type { Watch } from "../../engine/watch.ts";
import type { FleetChange } from "../../fleet/changes.ts";
import { isWanted, type FleetFilters } from "../../fleet/filters.ts";
import type { Fleet, Timeline } from "../../fleet/fleet.ts";
import { shownTo } from "../../operations/sight.ts";
import { factFrame, frameOf, placeFrame } from "./event-frames.ts";
import { FLEET_LIST } from "./limits.ts";
import type { Frames, SseSource } from "./sse.ts";

/** `fleet` with all rows, then `change`; from where the subscriber stood, only `change`. */
export function fleetSource(fleet: Fleet, filters: FleetFilters, from?: number): SseSource {
  const abort = new AbortController();
  const changes = fleet.changes({ signal: abort.signal, first: filters, from });
  return { frames: fleetFrames(changes, filters), close: () => abort.abort() };
}

async function* fleetFrames(changes: AsyncIterable<FleetChange>, filters: FleetFilters): Frames {
  /** The rows that it was told of; those of before it came back are not known. */
  let shown: Set<string> | undefined;
  for await (const { kind, rows, gone, isComplete, ...about } of changes) {
    if (kind === "whole") shown = new Set();
    const wanted = rows.filter((row) => isWanted(row, filters, about.atMs));
    const ids = new Set(wanted.map(({ id }) => id));
    const others = rows.flatMap(({ id }) => (ids.has(id) ? [] : [id]));
    const left = [...gone, ...others].filter((id) => shown?.delete(id) ?? true);
    for (const id of ids) shown?.add(id);
    if (kind === "change" && wanted.length === 0 && left.length === 0) continue;
    const facts = { ...about, rows: wanted };
    const told = kind === "whole" ? facts : { ...facts, gone: left };
    yield factFrame(kind === "whole" ? "fleet" : "change", told, isComplete);
  }
  return false;
}

/** A frame has a size that clients can take; what is more than that is told in several. */
function* parts<T>(all: readonly T[], gone: readonly string[]) {
  const { frameRows } = FLEET_LIST;
  for (let i = 0; i === 0 || i < all.length; i += frameRows) {
    yield { items: all.slice(i, i + frameRows), gone: i === 0 ? gone : [] };
  }
}

/** `row` whenever it is another one, `gone` when it is no more. */
export function rowSource(fleet: Fleet, id: string): SseSource {
  const abort = new AbortController();
  return { frames: rowFrames(fleet, id, abort.signal), close: () => abort.abort() };
}

async function* rowFrames(fleet: Fleet, id: string, signal: AbortSignal): Frames {
  for await (const { rows, gone, sequence, atMs } of fleet.changes({ signal, only: id })) {
    const [row] = rows;
    if (row) yield factFrame("row", { sequence, atMs, row });
    else if (gone.includes(id)) yield factFrame("gone", { sequence, atMs, id });
  }
  return false;
}

/** The services of a stream, and its subscriber. */
interface LiveServices {
  readonly engine: Engine;
  readonly fleet: Fleet;
  readonly by: By;
}

/** `questions` with all of them, then `change`. */
export function questionsSource(
  { engine, fleet, by }: LiveServices,
  wanted: readonly QuestionState[],
): SseSource {
  const watch = engine.watch({ prefixes: ["question."], by });
  const frames = questionFrames(watch, fleet, wanted);
  return { frames, cut: watch.cut, close: () => watch.close() };
}

async function* questionFrames(
  watch: Watch,
  fleet: Fleet,
  wanted: readonly QuestionState[],
): Frames {
  let kind: "questions" | "change" = "questions";
  let states: ReadonlyMap<string, QuestionState> = new Map();
  do {
    const { questions, sequence, atMs } = await fleet.questions(wanted);
    const before = states;
    states = new Map(questions.map(({ id, state }) => [id, state]));
    const news = questions.filter(({ id, state }) => before.get(id) !== state);
    const gone = [...before.keys()].filter((id) => !states.has(id));
    if (kind === "change" && news.length === 0 && gone.length === 0) continue;
    for (const part of parts(news, gone)) {
      const facts = { sequence, atMs, questions: part.items };
      yield factFrame(kind, kind === "questions" ? facts : { ...facts, gone: part.gone });
      kind = "change";
    }
  } while ((await watch.pull()).length > 0);
  return false;
}

/** The events up to a sequence, then the live ones, as in `/v1/events`. */
export function timelineSource(
  { engine, by }: Pick<LiveServices, "engine" | "by">,
  { events, sequence, trail }: Omit<Timeline, "id">,
): SseSource {
  const sight = sightOf(by.principal);
  const isVisible = shownTo(engine, by.principal);
  const watch = engine.watch({ from: sequence, by, isVisible });
  const past = events.map((each) =>
    frameOf({ kind: "event", recorded: eventFor(each, by) }, sight),
  );
  const frames = timelineFrames(watch, { trail, past, sight });
  return { frames, cut: watch.cut, close: () => watch.close() };
}

interface TimelineFrames {
  readonly trail: Timeline["trail"];
  readonly past: readonly Buffer[];
  readonly sight: Sight;
}

async function* timelineFrames(watch: Watch, { trail, past, sight }: TimelineFrames): Frames {
  yield* past;
  let skipped = 0;
  for (let items = await watch.pull(); items.length > 0; items = await watch.pull()) {
    const frames: Buffer[] = [];
    for (const item of items) {
      skipped += 1;
      if (item.kind === "event" && !trail.holds(item.recorded.event)) {
        if (skipped < FLEET_LIST.bookmarkEvents) continue;
        frames.push(placeFrame("bookmark", item.recorded.sequence));
      } else frames.push(frameOf(item, sight));
      skipped = 0;
    }
    if (frames.length > 0) yield Buffer.concat(frames);
  }
  return false;
}
