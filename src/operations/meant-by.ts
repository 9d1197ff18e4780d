/** The one item that a person means by an id, a name, or a part of one, as it is now. */
import { RollcallError } from "../core/errors.ts";
import { seek, type Nameable, type WordSearch } from "../core/meant.ts";
import type { State } from "../core/state.ts";
import type { Engine } from "../engine/engine.ts";
import { inSlices } from "../machine/slices.ts";

interface MeantQuery<Item> {
  readonly engine: Pick<Engine, "read">;
  readonly search: WordSearch;
  readonly items: (state: State) => ReadonlyMap<string, Item>;
  /** Of those that the caller sees; all unless told otherwise. */
  readonly sees?: (item: Item, state: State) => boolean;
  readonly namesOf: (item: Item) => Nameable;
}

/** An id costs nothing; by a name all are looked at, while others are served. */
export async function meantBy<Item, Answer>(
  { engine, search, items, sees = () => true, namesOf }: MeantQuery<Item>,
  show: (item: Item, state: State) => Answer,
): Promise<Answer & { readonly sequence: number }> {
  const shown = (id: string) =>
    engine.read((state, sequence) => {
      const item = items(state).get(id);
      return item && sees(item, state) ? { ...show(item, state), sequence } : undefined;
    });
  const exact = await shown(search.word);
  if (exact) return exact;
  const seeking = await engine.read((state) => {
    const all = items(state).values();
    return seek(
      seen(all, (item) => sees(item, state)),
      namesOf,
      search,
    );
  });
  const found = await inSlices(seeking);
  if (!found.ok) throw new RollcallError(found.code, found.reason);
  const { id } = namesOf(found.item);
  const answer = await shown(id);
  if (!answer) throw new RollcallError("NOT_FOUND", `no ${search.noun} ${id}`);
  return answer;
}

function* seen<Item>(items: Iterable<Item>, sees: (item: Item) => boolean): Generator<Item> {
  for (const item of items) if (sees(item)) yield item;
}
