/** For tests: a card, or a failure that says why it is none. */
import { readCard, type Card } from "../../../src/directory/cards/card.ts";

export function cardFrom(card: string | object): Card {
  const read = readCard(typeof card === "string" ? card : JSON.stringify(card));
  if (!read.ok) throw new Error(JSON.stringify(read.problems));
  return read.card;
}
