/**
 * Sources by whose they are, so that the view of an owner is made of its own sources alone;
 * entries of the directory by where their card was fetched from, since a report may claim them by
 * that address; and agents and entries by the row that their card names, since it depends on the
 * reports on that row whether they join it. Sources of the daemon's own user have no owner here:
 * that user sees everything.
 */
import { IndexBy } from "../core/index-by.ts";
import type { Report } from "../core/reports.ts";
import type { State } from "../core/state.ts";
import { rowNamedBy, sourceName, type SourceKey } from "./sources.ts";

export class SourceIndex {
  readonly #owned = new NamedIndex();
  readonly #fetched = new NamedIndex();
  readonly #joining = new NamedIndex();

  /** A source as it is now; without a report, it is no more. */
  file(key: SourceKey, report: Report | undefined, state: State): void {
    this.#owned.file(key, report?.owner);
    this.#joining.file(key, rowNamedBy(state, key));
    if (!key.startsWith("entry ")) return;
    const url = sourceName(key);
    this.#fetched.file(url, state.directory.byUrl.get(url)?.entry.verification?.from);
  }

  ofOwner(owner: string): ReadonlySet<string> {
    return this.#owned.under(owner);
  }

  /** The URLs of entries whose card was fetched from this one. */
  entriesFrom(cardUrl: string): ReadonlySet<string> {
    return this.#fetched.under(cardUrl);
  }

  /** The agents and entries whose cards name this row. */
  joining(rowId: string): ReadonlySet<string> {
    return this.#joining.under(rowId);
  }
}

/** Things, each under one name or none, that may be filed under another. */
class NamedIndex {
  readonly #things = new IndexBy();
  readonly #names = new Map<string, string>();

  file(thing: string, name: string | undefined): void {
    const before = this.#names.get(thing);
    if (before === name) return;
    if (before !== undefined) this.#things.delete(before, thing);
    if (name === undefined) this.#names.delete(thing);
    else {
      this.#names.set(thing, name);
      this.#things.add(name, thing);
    }
  }

  under(name: string): ReadonlySet<string> {
    return this.#things.of(name);
  }
}
