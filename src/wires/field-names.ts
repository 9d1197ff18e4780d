/** The fields of core in the words of wires with names in snake case and times in seconds. */

/** task_id for taskId, ttl_seconds for ttlMs, card.tools for card.tools. */
export function inSnakeCase(field: string): string {
  return field
    .replaceAll(/Ms\b/g, "Seconds")
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
