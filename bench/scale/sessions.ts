/** What a look has open for longer than one answer: a stream of events, a session of MCP. */

/** The whole answer; throws with it when it is no success. */
export async function textOf(url: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(url, init);
  const text = await response.text();
  if (!response.ok) throw new Error(`${url}: ${response.status} ${text}`);
  return text;
}

export class EventStream implements Disposable {
  readonly #abort = new AbortController();
  readonly #reader: Promise<ReadableStreamDefaultReader<string>>;
  #said = "";

  constructor(url: string) {
    const headers = { accept: "text/event-stream" };
    const opened = fetch(url, { headers, signal: this.#abort.signal });
    this.#reader = opened.then(({ ok, status, body }) => {
      if (!ok || !body) throw new Error(`${url}: ${status}`);
      return body.pipeThrough(new TextDecoderStream()).getReader();
    });
  }

  /** Resolves when it said something more, and these words are part of what it said. */
  async until(words: string): Promise<void> {
    const reader = await this.#reader;
    do {
      const { done, value = "" } = await reader.read();
      if (done) throw new Error(`the stream ended before it said ${words}`);
      this.#said = this.#said.slice(-words.length) + value;
    } while (!this.#said.includes(words));
  }

  [Symbol.dispose](): void {
    // The reader is told as well, and nobody waits for it.
    void this.#reader.then((reader) => reader.closed).catch(() => undefined);
    this.#abort.abort();
  }
}

export class McpSession {
  readonly #url: string;
  #session: Promise<string> | undefined;
  #calls = 0;

  constructor(url: string) {
    this.#url = `${url}/mcp`;
  }

  async callTool(name: string, args: object): Promise<void> {
    this.#session ??= this.#initialize();
    const session = await this.#session;
    const params = { name, arguments: args };
    const { text } = await this.#say({ method: "tools/call", params }, session);
    if (text.includes('"isError":true') || text.includes('"error":')) throw new Error(text);
  }

  async #initialize(): Promise<string> {
    const clientInfo = { name: "bench", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    return (await this.#say({ method: "initialize", params })).session;
  }

  async #say(message: object, session?: string) {
    const response = await fetch(this.#url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...(session !== undefined && { "mcp-session-id": session }),
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: (this.#calls += 1), ...message }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`MCP: ${response.status} ${text}`);
    return { text, session: response.headers.get("mcp-session-id") ?? "" };
  }
}
