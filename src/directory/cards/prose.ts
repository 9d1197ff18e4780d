/**
 * The prose of a card, as far as a person, a page or a model may see it. Its author may
 * be anybody: every text is one line, short, and without what cannot be seen. Beyond what a
 * terminal needs (core/clean.ts), the invisible letters go in which whole sentences can be hidden
 * from a person and still reach a model: joiners that join nothing, and variation selectors.
 */
import { clean } from "../../core/clean.ts";
import { objectsIn, textIn, type Card } from "./card.ts";
import type { JsonObject } from "../../core/json.ts";
import { PROSE } from "../../core/card-limits.ts";

export interface CardProse {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly organization: string;
  readonly skills: readonly SkillProse[];
}

export interface SkillProse {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
}

export function proseOf({ json }: Card): CardProse {
  const provider = json.members.get("provider");
  return {
    name: word(json, "name", PROSE.nameLength),
    description: word(json, "description", PROSE.descriptionLength),
    version: word(json, "version", PROSE.wordLength) || "1.0.0",
    organization:
      provider?.kind === "object" ? word(provider, "organization", PROSE.nameLength) : "",
    skills: objectsIn(json, "skills").slice(0, PROSE.skills).map(skillProse),
  };
}

function skillProse(skill: JsonObject): SkillProse {
  const tags = skill.members.get("tags");
  const listed = tags?.kind === "array" ? tags.items : [];
  return {
    id: word(skill, "id", PROSE.nameLength),
    name: word(skill, "name", PROSE.nameLength),
    description: word(skill, "description", PROSE.descriptionLength),
    tags: listed
      .filter((tag) => tag.kind === "string")
      .slice(0, PROSE.tags)
      .map((tag) => cleanProse(tag.value, PROSE.wordLength)),
  };
}

/** Questions that one might ask, by the card's author. */
export function examplesIn({ json }: Card): readonly string[] {
  const examples = objectsIn(json, "skills").flatMap((skill) => {
    const listed = skill.members.get("examples");
    return listed?.kind === "array" ? listed.items : [];
  });
  return examples
    .filter((each) => each.kind === "string")
    .slice(0, PROSE.examples)
    .map((each) => cleanProse(each.value, PROSE.exampleLength));
}

function word(json: JsonObject, name: string, maxLength: number): string {
  return cleanProse(textIn(json, name) ?? "", maxLength);
}

/** Joiners stay between two emoji, the selector of colour behind one; all others go. */
const HIDDEN = new RegExp(
  [
    String.raw`\u200c`,
    String.raw`(?<!\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d`,
    String.raw`\u200d(?!\p{Extended_Pictographic})`,
    String.raw`[\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\ufe00-\ufe0e\u{e0100}-\u{e01ef}]`,
    String.raw`(?<![\p{Emoji}])\ufe0f`,
  ].join("|"),
  "gu",
);

/** Cut before it is cleaned, too: a megabyte takes time, and its end would not be seen. */
export function cleanProse(text: string, maxLength: number): string {
  const cleaned = clean(text.slice(0, 4 * maxLength))
    .replace(HIDDEN, "")
    .trim();
  const short = cleaned.length <= maxLength ? cleaned : `${cleaned.slice(0, maxLength - 1)}…`;
  return short.replace(/\p{Surrogate}/gu, "");
}
