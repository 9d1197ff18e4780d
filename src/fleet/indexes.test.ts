import { describe, expect, test } from "vitest";
import { ALL, type FleetFilters } from "./filters.ts";
import { placesOf, type RowPlace } from "./headline.ts";
import { LOOKED, RowIndexes, type IndexedRow } from "./indexes.ts";

const { from } = placesOf("IDLE");

function row(i: number, workspace: string): IndexedRow {
  const found = { headline: "IDLE", isCounted: true, hosts: ["box"] } as const;
  return { id: `row-${i}`, place: from + i, workspace, ...found };
}

function indexed(rows: readonly IndexedRow[]): RowIndexes<IndexedRow> {
  const indexes = new RowIndexes<IndexedRow>();
  for (const each of rows) indexes.add(each);
  return indexes;
}

/** The ids of all pages, and of how many pages it is said that they are partial. */
function paged(indexes: RowIndexes<IndexedRow>, filters: FleetFilters, limit: number) {
  const ids: string[] = [];
  let partial = 0;
  let after: RowPlace | undefined;
  do {
    const page = indexes.page(filters, { limit, after });
    ids.push(...page.items.map(({ id }) => id));
    partial += page.isPartial ? 1 : 0;
    after = page.next;
  } while (after);
  return { ids, partial };
}

describe("rows below a folder", () => {
  test("come in pages, each once, however many folders there are", () => {
    const rows = Array.from({ length: 500 }, (_, i) => row(i, `/src/${(i * 7) % 500}`));
    const filters = { ...ALL, workspacePrefix: "/src/" };
    expect(indexed(rows).page(filters, { limit: 7 })).toMatchObject({ total: 500 });
    expect(paged(indexed(rows), filters, 7)).toEqual({ ids: rows.map(({ id }) => id), partial: 0 });
  });

  test("cost what a page shows, and not what the folders hold", () => {
    const looks = [10, 200].map((rowsEach) => {
      const folders = 100;
      let looked = 0;
      const rows = Array.from({ length: folders * rowsEach }, (_, i): IndexedRow => {
        const { place, ...rest } = row(i, `/src/${i % folders}`);
        return {
          ...rest,
          get place() {
            looked += 1;
            return place;
          },
        };
      });
      const indexes = indexed(rows);
      looked = 0;
      const { items, total } = indexes.page({ ...ALL, workspacePrefix: "/src/" }, { limit: 50 });
      expect(items.map(({ id }) => id)).toEqual(rows.slice(0, 50).map(({ id }) => id));
      expect(total).toBe(rows.length);
      return looked;
    });
    const [few = 0, many = 0] = looks;
    // Folders are searched by halves: twenty times the rows are five steps more, three times.
    expect(many - few).toBeLessThanOrEqual(100 * 3 * 5);
  });

  test("on a machine with many others are found by pages that say how far they looked", () => {
    const isWanted = (i: number) => i % (LOOKED / 2) === 1;
    const length = 2 * LOOKED + 5;
    const rows = Array.from({ length }, (_, i) => row(i, isWanted(i) ? "/src/a" : "/other"));
    const filters = { ...ALL, host: "box", workspacePrefix: "/src/" };
    const { ids, partial } = paged(indexed(rows), filters, 3);
    expect(ids).toEqual(rows.filter((_, i) => isWanted(i)).map(({ id }) => id));
    expect(partial).toBe(2);
    expect(indexed(rows).page({ ...filters, host: "none" }, { limit: 3 }).items).toEqual([]);
  });
});
