/**
 * The agents that a registry lists, at once or page by page. The next page is where the answer says
 * (`Link`), as long as that is at the same registry: our tokens go with the question.
 */
import type { CardVersion } from "../../../directory/cards/card.ts";
import { RollcallError } from "../../../core/errors.ts";
import { parsed, refusal, type RegistryResponse } from "./calls.ts";
import { BEAT } from "./limits.ts";
import type { A2aCard } from "./types.ts";

export interface ListOptions {
  readonly version?: CardVersion;
  /** These are Rollcall's; other registries take no notice of them. */
  readonly q?: string;
  readonly skill?: string;
  readonly tag?: string;
  readonly tier?: string;
  /** Of a page. */
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

/** Asks one URL of the registry. */
export type RegistryFetch = (
  url: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal | undefined,
) => Promise<RegistryResponse>;

export async function* pages(
  ask: RegistryFetch,
  agentsUrl: string,
  { version = "1.0", signal, ...filters }: ListOptions,
): AsyncGenerator<readonly A2aCard[], void, undefined> {
  const first = new URL(agentsUrl);
  for (const [name, value] of Object.entries(filters)) first.searchParams.set(name, String(value));
  let next: URL | undefined = first;
  for (let page = 1; next; page += 1) {
    if (page > BEAT.pages) {
      throw new RollcallError("TOO_LARGE", `${agentsUrl} has more than ${BEAT.pages} pages`);
    }
    const answer: RegistryResponse = await ask(next.href, { "a2a-version": version }, signal);
    yield cardsIn(answer, next.href);
    next = nextOf(answer, next);
  }
}

function cardsIn(answer: RegistryResponse, url: string): readonly A2aCard[] {
  if (answer.status !== 200) throw refusal(url, answer);
  const cards = parsed(answer.text, url);
  if (!Array.isArray(cards)) throw new RollcallError("INTERNAL", `${url} sends no list`);
  return cards as readonly A2aCard[];
}

function nextOf({ link = "" }: RegistryResponse, page: URL): URL | undefined {
  const target = /<([^<>]*)>\s*;\s*rel="?next"?/.exec(link)?.[1];
  if (target === undefined) return undefined;
  const next = URL.canParse(target, page.href) ? new URL(target, page) : undefined;
  if (next?.origin === page.origin) return next;
  throw new RollcallError("INTERNAL", `${page.href} has its next page at another registry`);
}
