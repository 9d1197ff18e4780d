/** Why a connection failed, in words for a person: the system has only names like ECONNREFUSED. */

const REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ECONNRESET: "connection lost",
  ENOTFOUND: "there is no such host",
  EAI_AGAIN: "the name of the host cannot be looked up now",
  EHOSTUNREACH: "there is no way to the host",
  ETIMEDOUT: "no answer in time",
  HPE_INVALID_CONSTANT: "what answers does not speak HTTP",
  ERR_HTTP2_ERROR: "what answers does not speak HTTP/2",
};

export function failureReason(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? String(error.code) : "";
  return REASONS[code] ?? (error.message || code || error.name);
}
