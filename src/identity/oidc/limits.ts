/** How far an issuer is believed, and how often it is asked, each number with its reason. */
import { MINUTE, SECOND } from "../../core/units.ts";

export const OIDC = {
  /** No symmetric ones: whoever may check a JWT could then make one. */
  algorithms: ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"],
  /** Between the clocks of the issuer and of this machine. */
  skewMs: 1 * MINUTE,
  /** Keys of this age are fetched anew: the issuer may have withdrawn one. */
  keysFreshMs: 10 * MINUTE,
  /** Older keys open nothing, though the issuer cannot be reached. */
  keysMaxMs: 60 * MINUTE,
  /** Between two fetches, however many JWTs name keys that are not there. */
  fetchPauseMs: 30 * SECOND,
  /** A JWT that was checked is known again for so long: a signature takes longer than a look-up. */
  rememberedMs: 5 * MINUTE,
  /** How many are: one for each caller of a large team. */
  remembered: 1_000,
  /** In a key set: issuers have two or three. */
  keys: 100,
  /** A JWT with hundreds of groups. */
  length: 8_000,
} as const;
