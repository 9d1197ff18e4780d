import { describe, expect, test } from "vitest";
import { restoreEntry, TIERS, type DirectoryEntry, type Tier } from "../core/directory.ts";
import { emptyState, type State } from "../core/state.ts";
import { isWantedEntry, entryPage, tierPage } from "./query.ts";

function entryOf(i: number, tier: Tier): DirectoryEntry {
  const origin = "https://agent.example";
  return {
    url: `${origin}/${i}`,
    origin,
    source: "10.0.0.1",
    tier,
    card: null,
    waiting: null,
    heard: "",
    proof: { isItsOwn: false, isSigned: false, signature: "" },
    isOwned: false,
    verification: null,
    intervalMs: 0,
    ttlMs: 0,
    // Several come at once, and not in the order of their URLs.
    registeredAtMs: Math.floor(((i * 7) % 100) / 3),
    changedAtMs: 0,
    lastHeartbeatAtMs: 0,
  };
}

function stateOf(entries: readonly DirectoryEntry[]): State {
  const state = emptyState();
  for (const entry of entries) restoreEntry(state, { entry, tokenHash: "" });
  return state;
}

describe("a page of a tier", () => {
  test.each(TIERS)("%s is that of all entries, sifted and sorted", (tier) => {
    const tierAt = (i: number) => TIERS[(i * 5) % TIERS.length] ?? "signed";
    const entries = Array.from({ length: 100 }, (_, i) => entryOf(i, tierAt(i)));
    const { directory } = stateOf(entries);
    const wanted = entries.filter((each) => isWantedEntry(each, { tier }));
    expect(wanted.length).toBeGreaterThan(20);
    let cursor: string | undefined;
    let pages = 0;
    do {
      const page = tierPage(directory, { tier, limit: 7, cursor });
      expect(page).toEqual(entryPage(wanted, { limit: 7, cursor }));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== undefined);
    expect(pages).toBe(Math.ceil(wanted.length / 7));
  });

  test("looks at what it shows, however many there are", () => {
    const looks = [500, 5_000].map((length) => {
      let looked = 0;
      const entries = Array.from({ length }, (_, i): DirectoryEntry => {
        const { registeredAtMs: _at, ...rest } = entryOf(i, "reachable");
        return {
          ...rest,
          get registeredAtMs() {
            looked += 1;
            return i;
          },
        };
      });
      const { directory } = stateOf(entries);
      looked = 0;
      const { cursor } = tierPage(directory, { limit: 50 });
      expect(tierPage(directory, { limit: 50, cursor }).entries).toHaveLength(50);
      return looked;
    });
    const [few = 0, many = 0] = looks;
    // The place is searched by halves.
    expect(many - few).toBeLessThanOrEqual(4 * Math.log2(10));
  });
});
