/**
 * The names of this machine's agents in the team's fleet. Here aliases may name no host, or
 * this one by another name than the team has for it; there each ends up as WIRE@HOST:NAME, and an
 * agent as NAME@HOST, so that no two machines share one.
 *
 *   file@annas-laptop:nightly ──▶ file@box:nightly        nightly ──▶ nightly@box
 *   acp:7f3a                  ──▶ acp@box:7f3a            arcp@annas-laptop:echo ──▶ arcp@box:echo
 *   script@other:x            ──▶ script@box:other:x
 */
import { FLEET } from "../../core/limits.ts";
import { hostOf, wireOf } from "../../core/wires.ts";

export class HostNames {
  readonly #host: string;
  readonly #own: readonly string[];

  /** `own`: what this machine calls itself. */
  constructor(host: string, own: readonly string[]) {
    this.#host = host;
    this.#own = own;
  }

  alias(alias: string): string {
    const at = hostOf(alias);
    const name = alias.slice(alias.indexOf(":") + 1);
    const elsewhere = at === undefined || this.#own.includes(at) ? "" : `${at}:`;
    return `${wireOf(alias)}@${this.#host}:${elsewhere}${name}`;
  }

  agent(agentId: string): string {
    return hostOf(agentId) === undefined ? `${agentId}@${this.#host}` : this.alias(agentId);
  }

  /** Links of the directory are addresses, which the team knows by itself. */
  links(links: readonly string[]): readonly string[] {
    return links
      .filter((link) => wireOf(link) !== "a2a")
      .slice(0, FLEET.links)
      .map((link) => this.alias(link));
  }
}
