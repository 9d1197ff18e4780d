/** For tests of the directory: a web of few pages, and agents that publish cards there. */
import { RollcallError } from "../../../src/core/errors.ts";
import type { Fetcher, FetchOptions } from "../../../src/net/fetch/fetcher.ts";

/** What is published, by URL; everything that was asked for is kept. */
export class TestWeb implements Pick<Fetcher, "first" | "text"> {
  readonly pages = new Map<string, string>();
  readonly asked: string[] = [];
  /** Told to those who may know why nothing was found. */
  why: Error | undefined;
  #gate: Promise<void> = Promise.resolve();

  async first<T>(
    urls: readonly string[],
    read: (text: string, url: string) => T | undefined,
    { tellsWhy = false }: FetchOptions = {},
  ): Promise<T> {
    await this.#gate;
    for (const url of urls) {
      this.asked.push(url);
      const text = this.pages.get(url);
      const found = text === undefined ? undefined : read(text, url);
      if (found !== undefined) return found;
    }
    throw new RollcallError(
      "UNAVAILABLE",
      "it could not be fetched",
      tellsWhy ? { cause: this.why } : {},
    );
  }

  text(url: string): Promise<string> {
    return this.first([url], (text) => text);
  }

  /** Puts a card where its agent would. */
  publish(card: { readonly url: string }, file = "/.well-known/agent.json"): void {
    this.pages.set(new URL(card.url).origin + file, JSON.stringify(card));
  }

  /** Nothing is answered until the returned function is called. */
  hold(): () => void {
    let release: () => void = () => undefined;
    this.#gate = new Promise((resolve) => (release = resolve));
    return release;
  }
}

export interface TestCard {
  readonly name: string;
  readonly url: string;
  readonly [field: string]: unknown;
}

export function cardOf(url: string, fields: Readonly<Record<string, unknown>> = {}): TestCard {
  return { name: "Echo", description: "Says it again", url, version: "1.0.0", ...fields };
}
