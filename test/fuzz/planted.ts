/** A reader with a bug behind five words, which blind input would have to guess at once. */
export function plantedReader(input: Buffer): void {
  const text = input.toString("latin1");
  if (!text.startsWith("lease")) return;
  if (!text.startsWith("renew", 5)) return;
  if (!text.startsWith("token", 10)) return;
  if (!text.startsWith("agent", 15)) return;
  if (text.startsWith("claim", 20)) throw new TypeError("the planted bug");
}
