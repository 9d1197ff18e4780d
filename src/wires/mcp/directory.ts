/** What this wire needs of the directory of A2A agents; who keeps it is for the daemon to say. */

export type CardVersion = "0.3" | "1.0";

/** How far the directory trusts a card, least first. */
export const TIERS = ["unverified", "reachable", "owner", "signed"] as const;

export type Tier = (typeof TIERS)[number];

export interface Listed {
  /** What the agent is registered under. */
  readonly url: string;
  readonly tier: Tier;
  readonly card: Readonly<Record<string, unknown>>;
}

export interface Directory {
  /** The agents that are available, with cards of that version. */
  list(version: CardVersion): Promise<readonly Listed[]>;
  /** Nothing when it is not available. */
  get(url: string, version: CardVersion): Promise<Listed | undefined>;
  /** Those that fit best, best first. */
  search(query: string, limit: number): Promise<readonly Listed[]>;
  /** Calls after something changed, until the returned function is called. */
  watch(changed: () => void): () => void;
}

/** Whether whoever wrote the card is known to be the agent it describes. */
export function isOwned(tier: Tier): boolean {
  return TIERS.indexOf(tier) >= TIERS.indexOf("owner");
}
