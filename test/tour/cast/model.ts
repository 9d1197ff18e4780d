/** A model that has Rollcall among its tools: an MCP client of the program `rollcall mcp`. */
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { commandFor } from "../command.ts";
import type { Place } from "../place.ts";

const FLEET = "rollcall://fleet";

/** What a model is told of an agent, as far as we look at it. */
export interface ToldAgent {
  readonly name: string;
  readonly headline: string;
  readonly why: string;
  readonly aliases: readonly string[];
}

export interface ToldFleet {
  readonly counts: Readonly<Record<string, number>>;
  readonly agents: readonly ToldAgent[];
}

export class Model implements AsyncDisposable {
  readonly #client = new Client({ name: "model", version: "1.0.0" });
  /** How often it was told that the fleet is another one. */
  told = 0;

  static async connect(place: Place): Promise<Model> {
    const { command, env } = commandFor(["mcp"], place.env);
    const [program, ...args] = command;
    const model = new Model();
    const transport = new StdioClientTransport({
      command: program,
      args: [...args],
      env: env as Record<string, string>,
      cwd: place.home,
      stderr: "ignore",
    });
    place.hold({
      close: () => model.close(),
      endNow: () => {
        if (transport.pid !== null) process.kill(transport.pid, "SIGKILL");
      },
    });
    await model.#client.connect(transport);
    model.#client.setNotificationHandler("notifications/resources/updated", () => {
      model.told += 1;
    });
    await model.#client.subscribeResource({ uri: FLEET });
    return model;
  }

  async fleet(): Promise<ToldFleet> {
    const { contents } = await this.#client.readResource({ uri: FLEET });
    const [content] = contents;
    if (!content || !("text" in content)) throw new Error(`${FLEET} is no text`);
    return JSON.parse(content.text) as ToldFleet;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    await this.#client.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}
