/** Moments as text. Most events come in the same millisecond as the one before. */
export class Timestamps {
  #lastMs = NaN;
  #text = "";

  text(atMs: number): string {
    if (atMs !== this.#lastMs) {
      this.#lastMs = atMs;
      this.#text = new Date(atMs).toISOString();
    }
    return this.#text;
  }
}
