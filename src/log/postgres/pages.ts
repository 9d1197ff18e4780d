/**
 * Pages of the log and of streams: whole appends, at least one, and no more once a page has bytes
 * enough. One statement gives the page together with where the log stands, so both are of one
 * moment. What it gives is checked: no gap, the checksum of each row, the chain of ids.
 */
import { checksumOf, logChecksum } from "./append.ts";
import type { Connection } from "./driver.ts";
import { damaged } from "./failure.ts";
import { POSTGRES } from "./limits.ts";

/** Rows of a table after $1, up to $2 where that is given. */
function rows(table: string, columns: string, where: string): string {
  return `
    SELECT ${columns}, first::text, last::text, checksum::text, body FROM (
      SELECT *, sum(octet_length(body)) OVER (ORDER BY last) - octet_length(body) AS before
      FROM ${table}
      WHERE ${where} last > $1::bigint AND ($2::bigint IS NULL OR last <= $2::bigint)
      ORDER BY last LIMIT ${POSTGRES.pageRows}
    ) AS counted WHERE before < ${POSTGRES.pageBytes} ORDER BY counted.last`;
}

export interface Span {
  readonly after: number;
  /** Absent: to the end. */
  readonly through?: number;
}

/** Entries that stand together, of one append each. */
interface Block {
  readonly first: number;
  readonly last: number;
  readonly body: string;
}

interface LogBlock extends Block {
  readonly mark: number;
  readonly id: string;
  readonly previous: string;
}

/** The rows of a page, and where the log stood when it was read. */
export interface LogPage {
  readonly head: number;
  readonly mark: number;
  readonly oldest: number;
  readonly logId: string;
  readonly lastId: string;
  readonly baseId: string;
  readonly blocks: readonly LogBlock[];
}

type Texts<Name extends string> = Readonly<Record<Name, string>>;
type BlockTexts = Texts<"checksum" | "body"> & {
  readonly first: string | null;
  readonly last: string;
};
type LogTexts = BlockTexts &
  Texts<"mark" | "id" | "previous" | "at_head" | "at_mark" | "oldest"> &
  Texts<"log_id" | "last_id" | "base_id">;

export interface LogTable {
  readonly schema: string;
  readonly place: string;
}

export async function readLogPage(
  connection: Connection,
  { schema, place }: LogTable,
  { after, through }: Span,
): Promise<LogPage> {
  const columns = "mark::text, id, previous";
  const found = await connection.bodies<LogTexts>(
    `SELECT h.head::text AS at_head, h.mark::text AS at_mark, oldest::text, log_id, last_id,
       base_id, page.*
     FROM ${schema}.head AS h LEFT JOIN LATERAL (${rows(`${schema}.log`, columns, "")}) AS page
     ON true`,
    [after, through ?? null],
  );
  const [at] = found;
  if (!at) throw damaged(place, "the row that tells the head of the log was deleted");
  const blocks: LogBlock[] = [];
  for (const row of found) {
    if (row.first === null) continue;
    const block = logBlock(row);
    const before = blocks.at(-1);
    const isNext = !before || (block.first === before.last + 1 && block.previous === before.id);
    if (!isNext || logChecksum(block) !== Number(row.checksum)) {
      throw damaged(place, `entries ${block.first} to ${block.last} of the log are not as written`);
    }
    blocks.push(block);
  }
  return {
    head: Number(at.at_head),
    mark: Number(at.at_mark),
    oldest: Number(at.oldest),
    logId: at.log_id,
    lastId: at.last_id,
    baseId: at.base_id,
    blocks,
  };
}

function logBlock({ first, last, mark, id, previous, body }: LogTexts): LogBlock {
  return { first: Number(first), last: Number(last), mark: Number(mark), id, previous, body };
}

export interface StreamPage {
  /** The number of the stream: another one, if it was removed and began anew. */
  readonly id: string;
  readonly head: number;
  readonly trimmed: number;
  readonly blocks: readonly Block[];
}

type StreamTexts = BlockTexts & Texts<"id" | "head" | "trimmed">;

/** Nothing when there is no such stream. */
export async function readStreamPage(
  connection: Connection,
  { schema, place }: LogTable,
  { stream, after, through }: Span & { readonly stream: string },
): Promise<StreamPage | undefined> {
  const found = await connection.bodies<StreamTexts>(
    `SELECT s.id::text, s.head::text, s.trimmed::text, page.*
     FROM ${schema}.stream AS s
     LEFT JOIN LATERAL (${rows(`${schema}.journal`, "stream", "stream = s.id AND")}) AS page ON true
     WHERE s.name = $3`,
    [after, through ?? null, stream],
  );
  const [at] = found;
  if (!at) return undefined;
  const blocks: Block[] = [];
  for (const row of found) {
    if (row.first === null) continue;
    const block = { first: Number(row.first), last: Number(row.last), body: row.body };
    const before = blocks.at(-1);
    const isNext = !before || block.first === before.last + 1;
    if (!isNext || checksumOf(stream, block.body) !== Number(row.checksum)) {
      const what = `entries ${block.first} to ${block.last} of stream ${stream}`;
      throw damaged(place, `${what} are not as written`);
    }
    blocks.push(block);
  }
  return { id: at.id, head: Number(at.head), trimmed: Number(at.trimmed), blocks };
}

/** The entries of blocks that come after `after`. */
export function entriesOf(
  blocks: readonly Block[],
  after: number,
  { place, what }: { readonly place: string; readonly what: string },
): string[] {
  const entries: string[] = [];
  for (const { first, last, body } of blocks) {
    const texts = body.split("\n");
    if (texts.length !== last - first + 1) {
      throw damaged(place, `${texts.length} entries stand from ${first} to ${last} of ${what}`);
    }
    for (let at = Math.max(0, after + 1 - first); at < texts.length; at += 1) {
      entries.push(texts[at] ?? "");
    }
  }
  return entries;
}
