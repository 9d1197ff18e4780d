/** How tests ask a member, over HTTP. */
import type { MemberProcess } from "./members.ts";

const PATIENCE_MS = 15_000;
/** A long run has many events. */
const READ_MS = 60_000;

export async function post(member: MemberProcess, path: string, body: object): Promise<unknown> {
  return ask(member, path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** Once more where the connection was kept for too long: a read may be repeated. */
export async function get<T>(member: MemberProcess, path: string): Promise<T> {
  const again = () => ask(member, path, {});
  return (await again().catch(again)) as T;
}

async function ask(member: MemberProcess, path: string, init: RequestInit): Promise<unknown> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const answer = await fetch(member.url + path, { ...init, signal });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${text}`);
  return JSON.parse(text);
}

/** All events of a topic up to now, from the beginning. */
export async function eventsOf(member: MemberProcess, topic: string): Promise<readonly unknown[]> {
  const { head } = await get<{ head: number }>(member, "/v1/cluster");
  const over = new AbortController();
  const url = `${member.url}/v1/events?from=0&topic=${topic}`;
  const signal = AbortSignal.any([over.signal, AbortSignal.timeout(READ_MS)]);
  const answer = await fetch(url, { signal });
  const found: unknown[] = [];
  let text = "";
  try {
    for await (const bytes of answer.body ?? []) {
      text += Buffer.from(bytes).toString();
      const messages = text.split("\n\n");
      text = messages.pop() ?? "";
      for (const message of messages) {
        const id = Number(/^id: ?(\d+)/m.exec(message)?.[1] ?? 0);
        const data = /^data: ?(.*)$/m.exec(message)?.[1];
        const name = /^event: ?(.*)$/m.exec(message)?.[1] ?? "";
        if (data !== undefined && name.startsWith(topic)) found.push(JSON.parse(data));
        if (id >= head) over.abort();
      }
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  }
  return found;
}

export interface AppendCounts {
  readonly all: number;
  /** Of them, those that took no more than 100 ms. */
  readonly quick: number;
}

/** The appends of a member since it started, by its metrics. */
export async function appendsOf(member: MemberProcess): Promise<AppendCounts> {
  const text = await (await fetch(`${member.url}/metrics`)).text();
  const of = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(text)?.[1] ?? 0);
  const quick = of('rollcall_append_seconds_bucket\\{le="0.1"\\}');
  return { all: of("rollcall_append_seconds_count"), quick };
}
