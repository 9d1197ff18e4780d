/** For tests: what few sources do to the directory, picked by small numbers. */
import type { DirectoryCommand } from "../../../src/core/directory-rules.ts";
import type { CardText } from "../../../src/core/directory.ts";

export interface DirectoryPick {
  readonly who: number;
  readonly what: number;
  readonly how: number;
}

/** Of a card that says one of few things. */
function someCard(what: number): CardText {
  return { text: `{"name":"${"x".repeat(what % 4)}"}`, digest: `digest-${what % 4}` };
}

export function someDirectoryCommand({ who, what, how }: DirectoryPick): DirectoryCommand {
  const url = `http://host-${who % 3}/${who % 2}`;
  const card = someCard(what);
  switch (how % 8) {
    case 0:
      return {
        type: "directory.confirm",
        url,
        heard: someCard(how).digest,
        card,
        from: `${url}/.well-known/agent.json`,
        proof: { isItsOwn: what % 2 === 0, isSigned: what % 3 === 0, signature: "" },
      };
    case 1:
      return { type: "directory.confirm", url, ...confirmed(card) };
    case 2:
      return { type: "directory.doubt", url, reason: what % 2 === 0 ? "unreachable" : "no card" };
    case 3:
      if (what % 4 === 0) return { type: "directory.remove", url };
  }
  const source = `source-${what % 2}`;
  return {
    type: "directory.heartbeat",
    url,
    origin: `http://host-${who % 3}`,
    source,
    card,
    intervalMs: [1000, 2000, 1_000_000_000, 0, 3000][how % 5] ?? 0,
    staleMultiplier: 3,
    newTokenHash: `token of ${source}`,
    tokenHash: how % 3 === 0 ? `token of ${source}` : "",
  };
}

const PROOF = { isItsOwn: true, isSigned: false, signature: "" };

function confirmed(card: CardText) {
  return { heard: card.digest, card, from: "http://host/card", proof: PROOF };
}
