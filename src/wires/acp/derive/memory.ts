/** A map that stays small: what was not touched for the longest time goes first. */

export function remember<Value>(
  map: Map<string, Value>,
  entry: { readonly key: string; readonly value: Value; readonly most: number },
): Value | undefined {
  map.delete(entry.key);
  map.set(entry.key, entry.value);
  if (map.size <= entry.most) return undefined;
  const [oldest] = map;
  if (oldest === undefined) return undefined;
  map.delete(oldest[0]);
  return oldest[1];
}
