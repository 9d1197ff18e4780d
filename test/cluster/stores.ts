/** The stores that there are. */
import { startNats } from "./nats-store.ts";
import { startPostgres } from "./postgres-store.ts";
import type { SharedStore, StoreOptions } from "./shared-store.ts";

export const STORES = ["postgres", "nats"] as const;

export type StoreKind = (typeof STORES)[number];

export function startStore(kind: StoreKind, options: StoreOptions): Promise<SharedStore> {
  switch (kind) {
    case "postgres":
      return startPostgres(options);
    case "nats":
      return startNats(options);
  }
}
