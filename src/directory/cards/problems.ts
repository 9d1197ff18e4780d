/**
 * The problems of a heartbeat or a card, and their places, in the shape and the words of the
 * peer (FastAPI, pydantic): its users' programs read them.
 */
import { plain, type Json } from "../../core/json.ts";
import { CARD } from "../../core/card-limits.ts";

export type Path = readonly (string | number)[];

export interface CardProblem {
  readonly type: string;
  readonly loc: Path;
  readonly msg: string;
  /** The value found there; null where it is too long to repeat. */
  readonly input: unknown;
  readonly ctx?: Readonly<Record<string, unknown>>;
}

const OBJECT = "Input should be a valid dictionary or object to extract fields from";

/** For each: the `type`, and the `msg`. */
const WORDS = {
  missing: "Field required",
  model_attributes_type: OBJECT,
  string_type: "Input should be a valid string",
  bool_type: "Input should be a valid boolean",
  bool_parsing: "Input should be a valid boolean, unable to interpret input",
  list_type: "Input should be a valid list",
  dict_type: "Input should be a valid dictionary",
  int_type: "Input should be a valid integer",
  int_parsing: "Input should be a valid integer, unable to parse string as an integer",
  int_from_float: "Input should be a valid integer, got a number with a fractional part",
} as const;

export function problem(type: keyof typeof WORDS, loc: Path, found: Json | undefined): CardProblem {
  return { type, loc, msg: WORDS[type], input: echo(found) };
}

export function tooLongField(loc: Path, found: Json, max: number): CardProblem {
  const msg = `String should have at most ${max} characters`;
  return { type: "string_too_long", loc, msg, input: echo(found), ctx: { max_length: max } };
}

/** All of it, before it was read. */
export function tooLarge(loc: Path, max: number): CardProblem {
  const msg = `String should have at most ${max} characters`;
  return { type: "string_too_long", loc, msg, input: null, ctx: { max_length: max } };
}

export function tooMany(loc: Path, length: number, max: number): CardProblem {
  const msg = `List should have at most ${max} items after validation, not ${length}`;
  const ctx = { field_type: "List", max_length: max, actual_length: length };
  return { type: "too_long", loc, msg, input: null, ctx };
}

export function tooSmall(loc: Path, found: Json, least: number): CardProblem {
  const msg = `Input should be greater than or equal to ${least}`;
  return { type: "greater_than_equal", loc, msg, input: echo(found), ctx: { ge: least } };
}

export function wrongValue(loc: Path, found: Json, reason: string): CardProblem {
  const msg = `Value error, ${reason}`;
  return { type: "value_error", loc, msg, input: echo(found), ctx: { error: {} } };
}

export function notJson(at: number, error: string): CardProblem {
  const loc = ["body", at];
  return { type: "json_invalid", loc, msg: "JSON decode error", input: {}, ctx: { error } };
}

function echo(found: Json | undefined): unknown {
  return found === undefined || found.text.length > CARD.echoLength ? null : plain(found);
}
