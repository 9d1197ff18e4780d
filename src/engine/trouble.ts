/** The last thing that went wrong, told to the operator, and why callers are refused meanwhile. */

export class Trouble {
  readonly #tell: ((what: string, error: unknown) => void) | undefined;
  /** For callers that are refused because of it. */
  reason = "there is no leader yet";

  constructor(tell: ((what: string, error: unknown) => void) | undefined) {
    this.#tell = tell;
  }

  report(what: string, error: unknown): void {
    this.reason = reasonOf(what, error);
    this.#tell?.(what, error);
  }

  /** Of something that is tried over and over: told once. */
  reportOnce(what: string, error: unknown): void {
    if (this.reason !== reasonOf(what, error)) this.report(what, error);
  }
}

function reasonOf(what: string, error: unknown): string {
  return `${what}: ${error instanceof Error ? error.message : String(error)}`;
}
