/** A heartbeat of an agent's client: its card, and when the next heartbeat is due. */
import { cardOf, type Card } from "./card.ts";
import { readJson, type Json } from "../../core/json.ts";
import { HEARTBEAT } from "../../core/card-limits.ts";
import { notJson, problem, tooLarge, tooSmall, type CardProblem } from "./problems.ts";

export interface Heartbeat {
  readonly card: Card;
  /** Within the range of HEARTBEAT: what is longer counts as the longest. */
  readonly intervalS: number;
}

export type HeartbeatReading =
  | { readonly ok: true; readonly heartbeat: Heartbeat }
  | { readonly ok: false; readonly problems: readonly CardProblem[] };

const BODY = ["body"];

export function readHeartbeat(text: string): HeartbeatReading {
  if (text.length > HEARTBEAT.bytes) return wrong([tooLarge(BODY, HEARTBEAT.bytes)]);
  if (text === "") return wrong([problem("missing", BODY, undefined)]);
  const read = readJson(text);
  if (!read.ok) return wrong([notJson(read.at, read.problem)]);
  const body = read.value;
  if (body.kind !== "object") return wrong([problem("model_attributes_type", BODY, body)]);
  const loc = [...BODY, "agent_card"];
  const json = body.members.get("agent_card");
  if (json === undefined) return wrong([problem("missing", loc, body)]);
  const found = cardOf(json, loc);
  const intervalS = intervalOf(body.members.get("interval"));
  if (!found.ok || typeof intervalS !== "number") {
    const late = typeof intervalS === "number" ? [] : [intervalS];
    return wrong([...(found.ok ? [] : found.problems), ...late]);
  }
  const card = read.hasRepeatedNames ? { ...found.card, isAmbiguous: true } : found.card;
  return { ok: true, heartbeat: { card, intervalS } };
}

function wrong(problems: readonly CardProblem[]): HeartbeatReading {
  return { ok: false, problems };
}

const WHOLE = /^\s*[+-]?\d+(?:_\d+)*(?:\.0*)?\s*$/;

/** The peer takes "30", "1_800", 30.0 and true for whole numbers, too. */
function intervalOf(found: Json | undefined): number | CardProblem {
  if (found === undefined) return HEARTBEAT.defaultIntervalS;
  const loc = [...BODY, "interval"];
  if (found.kind === "array" || found.kind === "object" || found.value === null) {
    return problem("int_type", loc, found);
  }
  if (found.kind === "string" && !WHOLE.test(found.value)) {
    return problem("int_parsing", loc, found);
  }
  const { value } = found;
  const intervalS = Number(typeof value === "string" ? value.replaceAll("_", "") : value);
  if (!Number.isInteger(intervalS)) return problem("int_from_float", loc, found);
  if (intervalS < HEARTBEAT.minIntervalS) return tooSmall(loc, found, HEARTBEAT.minIntervalS);
  return Math.min(intervalS, HEARTBEAT.maxIntervalS);
}
