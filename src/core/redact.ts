/**
 * Prompts and commands can hold secrets, and status files are read by many. What looks like one is
 * taken out: well-known forms of keys, what is assigned to a name that says so, what follows a flag
 * that says so, and the user part of a URL. It errs on the side of hiding.
 *
 * The text comes from models and repositories, and a coding agent waits for it: every pattern takes
 * time in proportion to the text. So none may begin with a repetition, nor look on from inside what
 * another look has passed: words are found first, and only then asked what they say.
 */
const HIDDEN = "***";

/** Forms that are secrets wherever they stand. */
const KEYS = new RegExp(
  [
    String.raw`\bsk-[\w-]{16,}`,
    String.raw`\b(?:gh[pousr]|github_pat|glpat|xox[abeprs]|npm|hf|pypi)[-_][\w-]{16,}`,
    String.raw`\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`,
    String.raw`\bAIza[\w-]{30,}`,
    // A JWT, or any other JSON in base64.
    String.raw`\beyJ[\w.-]{8,}`,
    String.raw`\brollcall_(?:agent_)?[\w-]{43}`,
    String.raw`-----BEGIN [A-Z ]*PRIVATE KEY-----.*`,
  ].join("|"),
  "gsu",
);

const SCHEME = /\b(Bearer|Basic)\s+[\w.~+/=-]{6,}/giu;
const USER_INFO = /:\/\/[^\s/]+@/gu;

const WORD = /[\w.-]+/giu;
const TELLING =
  /password|passwd|passphrase|secret|token|credential|auth|(?:api|access|private)[_-]?key/iu;
/** A quote that was cut off hides the rest. */
const VALUE = String.raw`(?:"[^"]*(?:"|$)|'[^']*(?:'|$)|[^\s"'&;|]+)`;

/** After `--token` and the like: x */
const ARGUMENT = new RegExp(String.raw`(\s+)(?!-)${VALUE}`, "yu");
/** After TOKEN, "token" and the like: =x, : "x" */
const ASSIGNED = new RegExp(String.raw`(["']?\s*[=:]\s*)${VALUE}`, "yu");

export function redact(text: string): string {
  const known = text
    .replace(KEYS, HIDDEN)
    .replace(SCHEME, `$1 ${HIDDEN}`)
    .replace(USER_INFO, `://${HIDDEN}@`);
  return hideValues(hideValues(known, ARGUMENT, tellsAsFlag), ASSIGNED, tells);
}

function tells(word: string): boolean {
  return TELLING.test(word);
}

function tellsAsFlag(word: string): boolean {
  const dash = word.indexOf("-");
  return dash !== -1 && tells(word.slice(dash));
}

/** Hides the values that follow words which tell of a secret. */
function hideValues(text: string, value: RegExp, isTelling: (word: string) => boolean): string {
  let hidden = "";
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    // Within a value that is hidden already.
    if (index < end || !isTelling(word)) continue;
    value.lastIndex = index + word.length;
    const found = value.exec(text);
    if (!found) continue;
    hidden += text.slice(end, value.lastIndex - found[0].length) + found[1] + HIDDEN;
    end = value.lastIndex;
  }
  return hidden + text.slice(end);
}
