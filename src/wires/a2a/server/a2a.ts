/** The A2A wire, ready to be mounted on a door: the peer's paths, and the catalog beside them. */
import type { ListedVersion } from "../../../directory/cards/versions.ts";
import type { DirectoryService } from "../../../directory/directory.ts";
import type { Permit } from "../../../operations/access.ts";
import { catalogRoutes } from "./catalog.ts";
import { heartbeatHandlers } from "./heartbeats.ts";
import { TABLE } from "../../../operations/table.ts";
import { AGENTS_PATH, listingHandler } from "./listing.ts";

export interface A2aOptions {
  readonly directory: DirectoryService;
  readonly permit: Permit;
  readonly version: ListedVersion;
}

export function a2aMount(options: A2aOptions) {
  return {
    swift: heartbeatHandlers(options),
    hot: {
      [AGENTS_PATH]: { access: TABLE.directory.list.access, handle: listingHandler(options) },
    },
    routes: catalogRoutes(options),
  };
}
