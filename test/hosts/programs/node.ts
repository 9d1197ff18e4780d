/** A newer Node than the one that runs Rollcall's own tests: some programs need it. */
import { join } from "node:path";
import { folderOf, type Package } from "../packages.ts";

export const NODE: Package = {
  name: `node-${process.platform}-${process.arch}`,
  version: "24.9.0",
};

export function nodePath(): string {
  return join(folderOf(NODE), "node_modules", NODE.name, "bin/node");
}
