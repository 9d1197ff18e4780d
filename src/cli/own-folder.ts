/** A folder that a command makes for its user alone. */
import { makeFolder } from "../machine/folders.ts";
import { systemError } from "../machine/system-error.ts";

export function makeOwnFolder(path: string): void {
  try {
    makeFolder(path, 0o700);
  } catch (error) {
    throw systemError(`make the folder ${path}`, error);
  }
}
