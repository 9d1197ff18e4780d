/** The file of keys whose signatures of agent cards are believed, read once, at the start. */
import { readFile, stat } from "node:fs/promises";
import { errorText, invalidArgument, RollcallError } from "../core/errors.ts";
import type { PinnedKey } from "../directory/signatures.ts";

/** Dozens of keys have some KiB; whatever is larger is another file. */
const MAX_BYTES = 256 * 1024;

export async function cardKeys(path: string | undefined): Promise<readonly PinnedKey[]> {
  if (path === undefined) return [];
  try {
    const { size } = await stat(path);
    if (size > MAX_BYTES)
      throw new RollcallError("TOO_LARGE", `it has more than ${MAX_BYTES} bytes`);
    const text = await readFile(path, "utf8");
    // Few have any, and the library takes its time to load.
    const { pinnedKeys } = await import("../directory/pinned-keys.ts");
    return await pinnedKeys(text);
  } catch (cause) {
    const why = errorText(cause);
    const message = `a2a_keys_file ${path}: ${why}`;
    throw invalidArgument(message, cause);
  }
}
