/** Whether JSON is what the table says, and where it is not: one walk, all problems at once. */
import { flagOf } from "./flags.ts";
import type { Json, JsonArray, JsonObject } from "../../core/json.ts";
import { CARD } from "../../core/card-limits.ts";
import { problem, tooLongField, tooMany, type CardProblem, type Path } from "./problems.ts";
import type { CardModel, Shape } from "./schema.ts";

/** The problems in order of the fields; a card that is all wrong gets only the first ones. */
export function check(value: Json, shape: Shape, loc: Path): readonly CardProblem[] {
  return [...walk(value, shape, loc)].slice(0, CARD.problems);
}

function* walk(value: Json, shape: Shape, loc: Path): Iterable<CardProblem> {
  switch (shape.kind) {
    case "text":
      if (value.kind !== "string") yield problem("string_type", loc, value);
      else if (value.value.length > shape.maxLength)
        yield tooLongField(loc, value, shape.maxLength);
      return;
    case "flag":
      if (flagOf(value) === undefined) {
        const canBeRead = value.kind === "string" || value.kind === "number";
        yield problem(canBeRead ? "bool_parsing" : "bool_type", loc, value);
      }
      return;
    case "record":
      if (value.kind !== "object") yield problem("dict_type", loc, value);
      return;
    case "list":
      if (value.kind !== "array") yield problem("list_type", loc, value);
      else if (value.items.length > shape.max) yield tooMany(loc, value.items.length, shape.max);
      else yield* walkItems(value, shape.of, loc);
      return;
    case "model":
      if (value.kind !== "object") yield problem("model_attributes_type", loc, value);
      else yield* walkFields(value, shape, loc);
  }
}

function* walkItems(value: JsonArray, shape: Shape, loc: Path): Iterable<CardProblem> {
  for (const [i, item] of value.items.entries()) yield* walk(item, shape, [...loc, i]);
}

function* walkFields(value: JsonObject, model: CardModel, loc: Path): Iterable<CardProblem> {
  for (const [name, field] of model.fields) {
    const found = value.members.get(name);
    if (found === undefined) {
      if (field.absent === undefined) yield problem("missing", [...loc, name], value);
    } else if (!(field.isNullable && found.text === "null")) {
      yield* walk(found, field.shape, [...loc, name]);
    }
  }
}
