/**
 * Agents whose card somebody names without sending it: a status file with `a2a.agent_card_url`. A
 * mention is a heartbeat for the URL of the card, with a card that holds the name alone. So it
 * makes an entry like every other: unverified until the card was fetched, within the bounds of its
 * source, and gone when nobody mentions it any more.
 *
 * A URL in a file is as trustworthy as the last text that an agent read. A few are fetched at a
 * time, through the guards of all fetches, so that a folder full of them holds up no heartbeat.
 */
import { ownBy } from "../core/by.ts";
import { asLine } from "../core/fields.ts";
import type { Engine } from "../engine/engine.ts";
import { httpUrl } from "../net/http/url.ts";
import type { DirectoryService } from "./directory.ts";
import { MENTIONS } from "./limits.ts";

export interface CardMention {
  readonly cardUrl: string;
  /** The name of its agent there; hearsay until the card was fetched. */
  readonly name: string;
}

export interface MentionsOptions {
  readonly engine: Pick<Engine, "peek">;
  readonly directory: Pick<DirectoryService, "hear">;
}

export class Mentions {
  readonly #options: MentionsOptions;
  readonly #due = new Map<string, CardMention>();
  #underWay = 0;

  constructor(options: MentionsOptions) {
    this.#options = options;
  }

  /** To be repeated while it is so. One too many is forgotten: it comes again. */
  add(mention: CardMention): void {
    if (this.#due.size >= MENTIONS.due) return;
    this.#due.set(mention.cardUrl, mention);
    this.#begin();
  }

  close(): void {
    this.#due.clear();
  }

  #begin(): void {
    for (const [cardUrl, mention] of this.#due) {
      if (this.#underWay >= MENTIONS.atOnce) return;
      this.#due.delete(cardUrl);
      this.#underWay += 1;
      void this.#hear(mention).finally(() => {
        this.#underWay -= 1;
        this.#begin();
      });
    }
  }

  /** Refused like any heartbeat, it is tried again with the next mention. */
  async #hear({ cardUrl, name }: CardMention): Promise<void> {
    if (this.#comesByItself(cardUrl)) return;
    const agent_card = { name: asLine(name, MENTIONS.nameLength), url: cardUrl };
    const body = Buffer.from(JSON.stringify({ agent_card, interval: MENTIONS.intervalS }));
    const sender = { by: ownBy("files"), source: MENTIONS.source };
    await this.#options.directory.hear(body, sender).catch(() => undefined);
  }

  /** Whether an entry that others keep alive has this very card. */
  #comesByItself(cardUrl: string): boolean {
    const origin = httpUrl(cardUrl)?.origin ?? "";
    return this.#options.engine.peek(({ directory }) => {
      for (const url of directory.byOrigin.of(origin)) {
        const entry = directory.byUrl.get(url)?.entry;
        if (entry?.source !== MENTIONS.source && entry?.verification?.from === cardUrl) return true;
      }
      return false;
    });
  }
}
