/** Ids of the appends of one engine: a prefix, drawn once, and a count. */

/** Of the prefix: enough that no two engines on one log draw the same. */
const PREFIX_LENGTH = 12;

export function appendIds(newId: () => string): () => string {
  const prefix = newId().slice(-PREFIX_LENGTH);
  let appends = 0;
  return () => {
    appends += 1;
    return `${prefix}.${appends.toString(36)}`;
  };
}
