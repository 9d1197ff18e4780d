/** Why a connection failed, in words for a person: the system has only names like ECONNREFUSED. */

const UNSIGNED = "no authority that is known here signed its certificate: see `rollcall login`";

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection lost",
  ENOTFOUND: "the host name is unknown",
  EAI_AGAIN: "the DNS does not answer now",
  EHOSTUNREACH: "the host cannot be reached",
  ETIMEDOUT: "timeout",
  HPE_INVALID_CONSTANT: "the server does not speak HTTP",
  DEPTH_ZERO_SELF_SIGNED_CERT: UNSIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: UNSIGNED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNSIGNED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNSIGNED,
  CERT_HAS_EXPIRED: "its certificate has expired",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
  ERR_HTTP2_ERROR: "the server does not speak HTTP/2",
};

export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  return REASONS[code] ?? (error.message || code || error.name);
}
