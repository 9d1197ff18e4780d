/**
 * The output forms of a served card: its bytes in its own generation and in both, its prose and its
 * examples, clean. Made once for each card; a card that is replaced takes it along.
 */
import { readCard } from "./cards/card.ts";
import { examplesIn, proseOf, type CardProse } from "./cards/prose.ts";
import { cardAs, type ListedVersion } from "./cards/versions.ts";
import type { CardText } from "../core/directory.ts";

export interface ShownCard {
  readonly prose: CardProse;
  readonly examples: readonly string[];
  readonly bytes: Readonly<Record<ListedVersion, Buffer>>;
}

const known = new WeakMap<CardText, ShownCard>();

export function shownCardOf(card: CardText): ShownCard {
  const found = known.get(card);
  if (found) return found;
  const made = make(card.text);
  known.set(card, made);
  return made;
}

function make(text: string): ShownCard {
  const reading = readCard(text);
  // It was read before it was kept; an older program may have been more generous.
  if (!reading.ok) return UNREADABLE;
  const { card } = reading;
  const bytes = {
    "0.3": Buffer.from(cardAs(card, "0.3")),
    "1.0": Buffer.from(cardAs(card, "1.0")),
  };
  const own = bytes[card.version];
  return { prose: proseOf(card), examples: examplesIn(card), bytes: { own, ...bytes } };
}

const EMPTY = Buffer.from("{}");
const NOTHING: CardProse = {
  name: "",
  description: "",
  version: "",
  organization: "",
  skills: [],
};
const UNREADABLE: ShownCard = {
  prose: NOTHING,
  examples: [],
  bytes: { own: EMPTY, "0.3": EMPTY, "1.0": EMPTY },
};
