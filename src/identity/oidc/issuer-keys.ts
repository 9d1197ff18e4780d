/**
 * The public keys of an issuer, fetched from where its own description says they are.
 *
 *   none ──fetched──▶ fresh ──10 min──▶ stale: used only while fetching fails ──60 min──▶ none
 *
 * A JWT with a key that is not there has them fetched at once, for the issuer may have a new one;
 * but never more often than every 30 s, or anybody could have us ask the issuer all day. Without
 * keys nobody is let in.
 */
import { createLocalJWKSet, errors, type JWTVerifyGetKey } from "jose";
import { z } from "zod";
import { markOf, sinceMs, type Clock, type Mark } from "../../core/clock.ts";
import { RollcallError } from "../../core/errors.ts";
import { Fetcher } from "../../net/fetch/fetcher.ts";
import { OIDC } from "./limits.ts";

export interface IssuerKeysOptions {
  readonly issuer: string;
  readonly fetcher: Pick<Fetcher, "text">;
  readonly clock: Clock;
}

/** The operator named the issuer: it may be in a private network, too. */
export function issuerFetcher(): Fetcher {
  return new Fetcher({ reach: { allowsLoopback: true, allowed: ["0.0.0.0/0", "::/0"] } });
}

const DESCRIPTION = z.object({ issuer: z.string(), jwks_uri: z.string() });
const KEY_SET = z.object({ keys: z.array(z.looseObject({ kty: z.string() })).max(OIDC.keys) });

interface FetchedKeys {
  readonly find: JWTVerifyGetKey;
  readonly fetchedAt: Mark;
}

export class IssuerKeys {
  readonly #options: IssuerKeysOptions;
  #keys: FetchedKeys | undefined;
  #fetching: Promise<void> | undefined;
  #triedAt: Mark | undefined;
  /** Why the last fetch failed; empty when it did not. */
  #trouble = "";

  constructor(options: IssuerKeysOptions) {
    this.#options = options;
  }

  /** As jose asks for the key of a JWT. Throws UNAVAILABLE where there are no keys to look in. */
  readonly find: JWTVerifyGetKey = async (header, input) => {
    if (this.#ageMs > OIDC.keysFreshMs) await this.#fetch();
    try {
      return await this.#known.find(header, input);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      const before = this.#keys;
      await this.#fetch();
      if (this.#keys === before) throw error;
      return this.#known.find(header, input);
    }
  };

  get #ageMs(): number {
    return this.#keys ? sinceMs(this.#options.clock, this.#keys.fetchedAt) : Infinity;
  }

  get #usable(): FetchedKeys | undefined {
    return this.#ageMs <= OIDC.keysMaxMs ? this.#keys : undefined;
  }

  get #known(): FetchedKeys {
    const keys = this.#usable;
    if (keys) return keys;
    const why = this.#trouble === "" ? "" : ` (${this.#trouble})`;
    const message = `the keys of the issuer ${this.#options.issuer} cannot be fetched${why}`;
    throw new RollcallError("UNAVAILABLE", message);
  }

  /** Never rejects; does nothing where it was tried just now. */
  #fetch(): Promise<void> {
    if (this.#fetching) return this.#fetching;
    const { clock } = this.#options;
    const isTooSoon = this.#triedAt && sinceMs(clock, this.#triedAt) < OIDC.fetchPauseMs;
    if (isTooSoon === true) return Promise.resolve();
    this.#triedAt = markOf(clock);
    this.#fetching = this.#fetchNow(this.#triedAt).finally(() => (this.#fetching = undefined));
    return this.#fetching;
  }

  async #fetchNow(fetchedAt: Mark): Promise<void> {
    try {
      const { issuer } = this.#options;
      const place = `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;
      const description = DESCRIPTION.parse(await this.#json(place));
      if (description.issuer !== issuer) throw new Error("its description names another issuer");
      if (issuer.startsWith("https:") && !description.jwks_uri.startsWith("https:")) {
        throw new Error("its keys are at an address without TLS");
      }
      const find = createLocalJWKSet(KEY_SET.parse(await this.#json(description.jwks_uri)));
      this.#keys = { find, fetchedAt };
      this.#trouble = "";
    } catch (error) {
      this.#trouble = troubleOf(error);
    }
  }

  async #json(url: string): Promise<unknown> {
    return JSON.parse(await this.#options.fetcher.text(url, { tellsWhy: true }));
  }
}

/** The fetcher has the reason as its cause. */
function troubleOf(error: unknown): string {
  if (error instanceof z.ZodError) return "its answer is not as OpenID Connect says";
  const { cause } = error as Error;
  return (cause instanceof Error ? cause : (error as Error)).message;
}
