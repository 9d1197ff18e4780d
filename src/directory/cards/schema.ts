/**
 * The peer's model of a card as a table: which fields it has, in the order it writes them, what
 * each holds, and what stands there when its author wrote nothing. Checking a card and writing it
 * are two walks over this one table, so they cannot disagree.
 *
 * A field that is not in the table is its author's business: it is kept, everywhere.
 */
import { CARD } from "../../core/card-limits.ts";

export type Shape =
  | { readonly kind: "text"; readonly maxLength: number }
  | { readonly kind: "flag" }
  | { readonly kind: "list"; readonly of: Shape; readonly max: number }
  | { readonly kind: "record" }
  | CardModel;

export interface CardModel {
  readonly kind: "model";
  readonly fields: ReadonlyMap<string, CardField>;
}

export interface CardField {
  readonly shape: Shape;
  /** JSON that stands for a field that is not there; without one it must be. */
  readonly absent?: string;
  /** Whether null may stand there. */
  readonly isNullable: boolean;
}

const WORD: Shape = { kind: "text", maxLength: CARD.wordLength };
const URL_TEXT: Shape = { kind: "text", maxLength: CARD.urlLength };
const PROSE_TEXT: Shape = { kind: "text", maxLength: CARD.proseLength };
const FLAG: Shape = { kind: "flag" };
const RECORD: Shape = { kind: "record" };
const WORDS = list(WORD, CARD.listed);

const PROVIDER = model({ organization: required(WORD), url: optional(URL_TEXT) });

const CAPABILITIES = model({
  streaming: defaulted(FLAG, "false"),
  pushNotifications: defaulted(FLAG, "false"),
  stateTransitionHistory: defaulted(FLAG, "false"),
  extendedAgentCard: optional(FLAG),
});

const NO_CAPABILITIES =
  '{"streaming":false,"pushNotifications":false,"stateTransitionHistory":false,' +
  '"extendedAgentCard":null}';

const SKILL = model({
  id: required(WORD),
  name: required({ kind: "text", maxLength: CARD.nameLength }),
  description: optional(PROSE_TEXT),
  tags: optional(WORDS),
  examples: optional(list(PROSE_TEXT, CARD.listed)),
  inputModes: optional(WORDS),
  outputModes: optional(WORDS),
});

const INTERFACE = model({
  url: required(URL_TEXT),
  protocolBinding: optional(WORD),
  protocolVersion: optional(WORD),
  tenant: optional(WORD),
});

export const CARD_MODEL = model({
  name: required({ kind: "text", maxLength: CARD.nameLength }),
  description: optional(PROSE_TEXT),
  url: optional(URL_TEXT),
  supportedInterfaces: optional(list(INTERFACE, CARD.interfaces)),
  version: defaulted(WORD, '"1.0.0"'),
  provider: optional(PROVIDER),
  documentationUrl: optional(URL_TEXT),
  iconUrl: optional({ kind: "text", maxLength: CARD.proseLength }),
  capabilities: defaulted(CAPABILITIES, NO_CAPABILITIES),
  defaultInputModes: defaulted(WORDS, '["text/plain"]'),
  defaultOutputModes: defaulted(WORDS, '["text/plain"]'),
  skills: defaulted(list(SKILL, CARD.skills), "[]"),
  protocolVersion: optional(WORD),
  preferredTransport: optional(WORD),
  securitySchemes: optional(RECORD),
  security: optional(list(RECORD, CARD.listed)),
  securityRequirements: optional(list(RECORD, CARD.listed)),
});

function model(fields: Readonly<Record<string, CardField>>): CardModel {
  return { kind: "model", fields: new Map(Object.entries(fields)) };
}

function list(of: Shape, max: number): Shape {
  return { kind: "list", of, max };
}

function required(shape: Shape): CardField {
  return { shape, isNullable: false };
}

function optional(shape: Shape): CardField {
  return { shape, absent: "null", isNullable: true };
}

function defaulted(shape: Shape, absent: string): CardField {
  return { shape, absent, isNullable: false };
}
