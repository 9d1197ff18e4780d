/** Why there is no link to the team, in words that name what mends it, and whether time may. */
import { codeOf, wireCodes } from "../../core/errors.ts";

export interface LinkTrouble {
  readonly reason: string;
  /** Only a person can change it: tries may be rare. */
  readonly isRefused: boolean;
}

const ANOTHER_TOKEN =
  "make another by `rollcall tokens create NAME --role outpost --host HOST` on the team's daemon " +
  "and put it into token_file, which is read again at the next try";

const UNSIGNED =
  "set join_ca to a file that has it, or that of its authority; the file is read at the next try";

/** By the code that TLS gives a certificate that does not do. */
const CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: `signed itself, and is not known here: ${UNSIGNED}`,
  SELF_SIGNED_CERT_IN_CHAIN: `is of an authority that is not known here: ${UNSIGNED}`,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: `is of an authority that is not known here: ${UNSIGNED}`,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: `is of an authority that is not known here: ${UNSIGNED}`,
  CERT_HAS_EXPIRED: "has expired: renew it there",
  ERR_TLS_CERT_ALTNAME_INVALID: "is for another name: set join to a name that it has",
};

export function linkTrouble(error: unknown, url: string): LinkTrouble {
  const said = error instanceof Error ? error.message : String(error);
  const certificate = CERTIFICATES[causeOf(error)];
  if (certificate !== undefined) {
    return { reason: `the certificate of ${url} ${certificate}`, isRefused: true };
  }
  const code = codeOf(error);
  if (code === "UNAUTHENTICATED") return { reason: `${said}: ${ANOTHER_TOKEN}`, isRefused: true };
  // Another session, or a log that was cut: the next join begins anew.
  const isOver = code === "WRONG_STATE" || code === "OUT_OF_RANGE";
  return { reason: said, isRefused: wireCodes(code).retry === "never" && !isOver };
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause ? String(cause.code) : "";
}
