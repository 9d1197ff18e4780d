/** A body that is read whole. */

/** As text; nothing where it is longer than that. */
export async function wholeBody(
  source: AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<string | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of source) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return new TextDecoder().decode(Buffer.concat(chunks));
}

/** The same of an answer to `fetch`. */
export function wholeAnswer({ body }: Response, maxBytes: number): Promise<string | undefined> {
  return wholeBody((body ?? []) as AsyncIterable<Uint8Array>, maxBytes);
}
