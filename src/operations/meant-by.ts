/** The one item that a person means by an id, a name, or a part of one, as it is now. */
import { refusalError, RollcallError } from "../core/errors.ts";
import { seek, type Nameable, type WordSearch } from "../core/meant.ts";
import type { State } from "../core/state.ts";
import type { Engine } from "../engine/engine.ts";
import { inSlices } from "../machine/slices.ts";
import { listsOf, placeOfName, type KeptList, type KeptLists } from "./kept-lists.ts";
import { matching, settleLists } from "./lists.ts";

interface MeantQuery<Item> {
  readonly engine: Pick<Engine, "observers" | "read">;
  readonly search: WordSearch;
  readonly items: (state: State) => ReadonlyMap<string, Item>;
  /** Of those that the caller sees; all unless told otherwise. */
  readonly sees?: (item: Item, state: State) => boolean;
  readonly namesOf: (item: Item) => Nameable;
  /** Throws where the caller may not read the one that is meant. */
  readonly permit: (id: string) => void;
  /** The list of all by name, where there is one. */
  readonly byName?: (lists: KeptLists) => KeptList<Item>;
}

/**
 * An id costs nothing, and a name where there is a list by name. By a part of a name all are looked
 * at, while others are served.
 */
export async function meantBy<Item, Answer>(
  query: MeantQuery<Item>,
  show: (item: Item, state: State) => Answer,
): Promise<Answer & { readonly sequence: number }> {
  const { engine, search, items, sees = () => true, namesOf } = query;
  const shown = (id: string) =>
    engine.read((state, sequence) => {
      const item = items(state).get(id);
      return item && sees(item, state) ? { ...show(item, state), sequence } : undefined;
    });
  const exact = await shown(search.word);
  if (exact) return exact;
  const named = await itemsNamed(query);
  const seeking = await engine.read((state) => {
    const all = named.length > 0 ? named : items(state).values();
    return seek(
      matching(all, (item) => sees(item, state)),
      namesOf,
      search,
    );
  });
  const found = await inSlices(seeking);
  if (!found.ok) throw refusalError(found);
  const { id } = namesOf(found.item);
  query.permit(id);
  const answer = await shown(id);
  if (!answer) throw new RollcallError("NOT_FOUND", `no ${search.noun} ${id}`);
  return answer;
}

/** As many as it takes to say that several are called so. */
const NAMED = 1_000;

async function itemsNamed<Item>(query: MeantQuery<Item>): Promise<readonly Item[]> {
  const { engine, search, byName } = query;
  if (!byName) return [];
  const list = byName(listsOf(engine));
  await settleLists(engine, list);
  return engine.read((state) => {
    list.update(state);
    const found: Item[] = [];
    for (const place of list.after(undefined, placeOfName(search.word))) {
      const item = list.item(state, place);
      if (item !== undefined && found.push(item) >= NAMED) break;
    }
    return found;
  });
}
