/** What Rollcall shows of a program: its rows that are not gone, with the pane of each. */
import type { Row } from "../../src/fleet/row.ts";
import { connect, type Client } from "../../src/wires/api/client/client.ts";
import { readStatusDir } from "../../src/wires/files/read.ts";

export interface ShownRow {
  readonly id: string;
  readonly headline: Row["headline"];
  /** Its question; nothing where it asks none. */
  readonly asks?: string;
  readonly options?: readonly string[];
  readonly why: string;
  readonly pane?: string;
}

/** What is not said of a row may be anything, but for a question. */
export type ExpectedRow = Pick<ShownRow, "headline"> & {
  readonly asks?: string | RegExp;
  readonly options?: readonly string[];
  readonly why?: string | RegExp;
  readonly pane?: string;
  /** Whether it must not have been there before the moment. */
  readonly isNew?: boolean;
};

export class Fleet implements AsyncDisposable {
  readonly #client: Client;
  readonly #program: string;
  readonly #statusFolder: string;

  constructor(url: string, program: string, statusFolder: string) {
    this.#client = connect({ url });
    this.#program = program;
    this.#statusFolder = statusFolder;
  }

  async rows(): Promise<readonly ShownRow[]> {
    const ask = () => this.#client.get("/v1/fleet");
    // The daemon closes a connection that rested, as while a command ran.
    const { rows } = (await ask().catch(ask)) as { readonly rows: readonly Row[] };
    const panes = this.#panes();
    return rows
      .filter(({ headline, name }) => headline !== "GONE" && name.startsWith(this.#program))
      .map((row) => shownRow(row, panes.get(idThere(row))));
  }

  /** Of each status file, by the id of its agent. */
  #panes(): ReadonlyMap<string, string> {
    const readings = readStatusDir(this.#statusFolder, { nowMs: Date.now() });
    const panes = readings.flatMap((reading) => {
      if (reading.kind !== "status") return [];
      const { agent_id, x_meta } = reading.status;
      const pane = x_meta?.["tmux_pane"];
      return typeof pane === "string" ? [[agent_id, pane] as const] : [];
    });
    return new Map(panes);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
  }
}

/** Of an agent that an outpost tells of: the id on its own machine. */
function idThere({ id, host }: Row): string {
  return host === null ? id : id.slice(0, -`@${host}`.length);
}

function shownRow({ id, headline, why, blockedOn }: Row, pane: string | undefined): ShownRow {
  const question = blockedOn?.value;
  return {
    id,
    headline,
    why,
    ...(question && { asks: question.text }),
    ...(question?.options && question.options.length > 0 && { options: question.options }),
    ...(pane !== undefined && { pane }),
  };
}

/** Whether each row is one that is expected, and none is missing. */
export function areAsExpected(
  rows: readonly ShownRow[],
  expected: readonly ExpectedRow[],
  before: ReadonlySet<string> = new Set(),
): boolean {
  if (rows.length !== expected.length) return false;
  const [wanted, ...others] = expected;
  if (!wanted) return true;
  return rows.some((row) => {
    if (wanted.isNew && before.has(row.id)) return false;
    return isAsExpected(row, wanted) && areAsExpected(without(rows, row), others, before);
  });
}

function without(rows: readonly ShownRow[], row: ShownRow): readonly ShownRow[] {
  return rows.filter((each) => each !== row);
}

function isAsExpected(row: ShownRow, { headline, asks, options, why, pane }: ExpectedRow): boolean {
  return (
    row.headline === headline &&
    (asks === undefined ? row.asks === undefined : matches(row.asks, asks)) &&
    (options === undefined || options.join() === row.options?.join()) &&
    (why === undefined || matches(row.why, why)) &&
    (pane === undefined || row.pane === pane)
  );
}

function matches(text: string | undefined, wanted: string | RegExp): boolean {
  if (text === undefined) return false;
  return typeof wanted === "string" ? text === wanted : wanted.test(text);
}

export function inWords(rows: readonly (ShownRow | ExpectedRow)[]): string {
  const words = rows.map(({ headline, asks, options, pane }) =>
    [headline, asks, options && `[${options.join(" / ")}]`, pane].filter(Boolean).join(" "),
  );
  return words.join(" + ") || "nobody";
}
