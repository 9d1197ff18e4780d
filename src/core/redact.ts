/**
 * Prompts and commands can hold secrets, and status files are read by many. What looks like one is
 * taken out: well-known forms of keys, what is assigned to a name that says so, what follows a flag
 * that says so, and the user part of a URL. It errs on the side of hiding.
 */
const HIDDEN = "***";

/** Forms that are secrets wherever they stand. */
const KEYS = new RegExp(
  [
    String.raw`\bsk-[\w-]{16,}`,
    String.raw`\b(?:gh[pousr]|github_pat|glpat|xox[abeprs]|npm|hf|pypi)[-_][\w-]{16,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bAIza[\w-]{30,}`,
    String.raw`\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*`,
    String.raw`\brollcall_(?:agent_)?[\w-]{43}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----.*`,
  ].join("|"),
  "gsu",
);

const TELLING =
  "password|passwd|passphrase|secret|token|credential|auth|(?:api|access|private)[_-]?key";
const NAME = String.raw`[\w.-]*(?:${TELLING})[\w.-]*`;
const VALUE = String.raw`"[^"]*"|'[^']*'|[^\s"'&;|]+`;

/** TOKEN=x, "token": "x", --token x, --token=x */
const ASSIGNED = new RegExp(String.raw`(\b${NAME}["']?\s*[=:]\s*)(?:${VALUE})`, "giu");
const FLAG = new RegExp(String.raw`(--?${NAME}\s+)(?!-)(?:${VALUE})`, "giu");
const SCHEME = /\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/giu;
const USER_INFO = /(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@]+@/giu;

export function redact(text: string): string {
  return text
    .replace(KEYS, HIDDEN)
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(USER_INFO, `$1${HIDDEN}@`)
    .replace(FLAG, `$1${HIDDEN}`)
    .replace(ASSIGNED, `$1${HIDDEN}`);
}
