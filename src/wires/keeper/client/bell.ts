/** Something changed: everybody who waits is woken, and looks for itself. */
export class Bell {
  #ring: () => void = () => undefined;
  #next = this.#cast();

  /** Resolves when it is rung after this call. */
  next(): Promise<void> {
    return this.#next;
  }

  ring(): void {
    const ring = this.#ring;
    this.#next = this.#cast();
    ring();
  }

  #cast(): Promise<void> {
    return new Promise((resolve) => (this.#ring = resolve));
  }
}
