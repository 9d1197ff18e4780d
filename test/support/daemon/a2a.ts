/** For tests of the A2A wire on a real door: each test has a registry and a web of its own. */
import { afterEach, beforeEach, expect } from "vitest";
import { cardOf, TestWeb } from "../directory/fixture.ts";
import { openApi, type Api } from "./api.ts";
import { ask, type Answer } from "./fixture.ts";

export const ECHO = "http://echo.example:8080/a2a";
export const OLD = "/registry/heartbeat";
export const NEW = "/.well-known/agents/heartbeat";
export const AGENTS = "/.well-known/agents";
export const TOKEN = "rollcall-registration-token";

type Headers = Readonly<Record<string, string>>;

/** Opens and closes itself around each test of the file. */
export class A2aDoor {
  #opened: { readonly api: Api; readonly web: TestWeb } | undefined;

  constructor() {
    beforeEach(async () => {
      const web = new TestWeb();
      this.#opened = { api: await openApi(undefined, web), web };
    });
    afterEach(async () => {
      await this.api.close();
      expect(this.api.opened.faults).toEqual([]);
    });
  }

  get api(): Api {
    if (!this.#opened) throw new Error("it is open during a test only");
    return this.#opened.api;
  }

  get web(): TestWeb {
    if (!this.#opened) throw new Error("it is open during a test only");
    return this.#opened.web;
  }

  get host(): string {
    return `127.0.0.1:${this.api.opened.port}`;
  }

  readonly beat = (card: unknown, rest: object = {}, headers: Headers = {}): Promise<Answer> =>
    this.send(NEW, JSON.stringify({ agent_card: card, ...rest }), headers);

  readonly send = (path: string, body: string, headers: Headers = {}): Promise<Answer> => {
    const given = { "content-type": "application/json", host: this.host, ...headers };
    return ask(this.api.opened.port, path, { method: "POST", headers: given, body });
  };

  readonly fetched = (path = AGENTS, headers: Headers = {}): Promise<Answer> =>
    ask(this.api.opened.port, path, { headers: { host: this.host, ...headers } });

  readonly listed = async (path = AGENTS, headers: Headers = {}) => {
    const { body, status } = await this.fetched(path, headers);
    expect(status).toBe(200);
    return JSON.parse(body) as { readonly name: string; readonly [field: string]: unknown }[];
  };

  /** One agent that was verified. */
  readonly registered = async (url = ECHO, fields: Readonly<Record<string, unknown>> = {}) => {
    const card = cardOf(url, fields);
    this.web.publish(card);
    const answer = await this.beat(card, { interval: 30 });
    expect(JSON.parse(answer.body)).toEqual({ status: "ok", verified: true });
    return { card, answer };
  };
}
