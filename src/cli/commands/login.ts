/**
 * `rollcall login`: a daemon elsewhere becomes a context, which commands then talk to.
 *
 *   certificate known? ──no──▶ pinned by the person ──▶ token ──▶ whoami ──▶ kept
 *
 * The token is never a word of the command line, and is sent only once the server is known.
 */
import { resolve } from "node:path";
import { buildCommand } from "@stricli/core";
import { invalidArgument, RollcallError } from "../../core/errors.ts";
import { isLoopbackHost } from "../../net/loopback.ts";
import {
  checkContextName,
  readContexts,
  writeContexts,
  type DaemonContext,
} from "../../net/http/contexts.ts";
import { checkToken, readTextFile, tokenIn } from "../../net/http/token.ts";
import { parseUrl } from "../../net/http/url.ts";
import { certificateAt, parseFingerprint } from "../../net/tls/server-certificate.ts";
import type { ServerTrust } from "../../net/tls/trust.ts";
import { connect } from "../../wires/api/client/client.ts";
import { lookUp } from "../api.ts";
import type { Context } from "../context.ts";
import { note } from "../print.ts";
import { argument, switchFlag, textFlag } from "../flags.ts";
import { about, kebab } from "../help.ts";
import { clean } from "../terminal/clean.ts";
import { askSecret, confirm } from "../terminal/prompt.ts";
import { wrap } from "../terminal/width.ts";

interface Flags {
  readonly context?: string;
  readonly tokenFile?: string;
  readonly caFile?: string;
  readonly fingerprint?: string;
  readonly certFile?: string;
  readonly keyFile?: string;
  readonly insecure?: boolean;
}

export const login = buildCommand<Flags, [string], Context>({
  docs: about(
    "Log in to a daemon and make it the current context: commands talk to it from now on. It " +
      "asks for the token, which is not shown, or reads it from a pipe or a file; Enter alone " +
      "presents none. Nothing is kept unless the daemon takes the token. A certificate that no " +
      "authority signed is pinned, once you have compared its fingerprint.",
    { call: "rollcall login https://box:9090 --context team", does: "asks for the token" },
    { call: "rollcall login https://box:9090 < ci.token", does: "for a script" },
    {
      call: "rollcall login https://box:9090 --token-file ~/ci.token",
      does: "keeps the path only",
    },
    { call: "rollcall context use local", does: "back to this machine" },
  ),
  parameters: {
    flags: {
      context: textFlag("NAME", "The name of the context [the host of the URL]"),
      tokenFile: textFlag("FILE", "The file with the token: it is read anew for every command"),
      caFile: textFlag("FILE", "The certificates of the authority that signed the daemon's (PEM)"),
      fingerprint: textFlag("SHA256", "The certificate to pin, by its SHA-256 fingerprint"),
      certFile: textFlag("FILE", "Your own certificate, where the daemon asks for one (PEM)"),
      keyFile: textFlag("FILE", "Its private key (PEM)"),
      insecure: switchFlag("Send the token without TLS to another machine"),
    },
    positional: {
      kind: "tuple",
      parameters: [argument("URL", "Where the daemon is, as https://HOST:PORT")],
    },
  },
  async func(flags, address) {
    const url = new URL(parseUrl(address));
    const name = nameFor(url, flags, this);
    checkProtection(url, flags);
    const { trust, kept } = await certificatesOf(this, url, flags);
    const credential = await credentialOf(this, flags);
    const context = { url: parseUrl(address), ...kept, ...credential.kept };
    const { token } = credential;
    await using daemon = connect({ url: context.url, socket: false, token, trust });
    const caller = await lookUp(daemon, "daemon.whoami", { input: {} });
    keep(this, name, context);
    const roles = caller.roles.join(", ");
    await note(this, `logged in to ${context.url} as ${caller.name} (${roles})`);
    await note(this, `commands talk to the context ${name} now; \`rollcall context\` lists them`);
  },
});

/** A name that is taken by another daemon is refused before anything is asked. */
function nameFor(url: URL, { context }: Flags, { env }: Context): string {
  const name = checkContextName(context ?? plainHost(url).replaceAll(":", "-"));
  const taken = readContexts(env).byName.get(name)?.url;
  if (taken === undefined || taken === parseUrl(url.href)) return name;
  const fix = "choose another name with --context, or remove it";
  throw new RollcallError("ALREADY_EXISTS", `the context ${name} is ${taken}: ${fix}`);
}

function checkProtection(url: URL, { insecure = false }: Flags): void {
  const { protocol, hostname } = url;
  if (protocol === "https:" || isLoopbackHost(url) || insecure) return;
  const message =
    `http://${hostname} would get the token in clear text: ` +
    "use https://, a tunnel to this machine, or --insecure";
  throw invalidArgument(message);
}

/** How both ends are known: for this call, and as the context keeps it. */
interface LoginCertificates {
  readonly trust: ServerTrust;
  readonly kept: Omit<DaemonContext, "url" | "token" | "tokenFile">;
}

async function certificatesOf(
  context: Context,
  url: URL,
  flags: Flags,
): Promise<LoginCertificates> {
  if (url.protocol !== "https:") return { trust: {}, kept: {} };
  const [ca, cert, key] = (["caFile", "certFile", "keyFile"] as const).map((name) => {
    const file = flags[name];
    return file === undefined ? undefined : readTextFile(file, `--${kebab(name)} ${file}`);
  });
  const fingerprint = await pinOf(context, url, { ca, given: flags.fingerprint });
  const { caFile, certFile, keyFile } = flags;
  return {
    trust: { ca, fingerprint, cert, key },
    kept: {
      ...(fingerprint !== undefined && { fingerprint }),
      ...(caFile !== undefined && { caFile: resolve(caFile) }),
      ...(certFile !== undefined && { certFile: resolve(certFile) }),
      ...(keyFile !== undefined && { keyFile: resolve(keyFile) }),
    },
  };
}

interface PinWish {
  readonly ca: string | undefined;
  /** As typed on the command line. */
  readonly given: string | undefined;
}

/** The fingerprint to pin; none where an authority vouches for the certificate. */
async function pinOf(context: Context, url: URL, wish: PinWish): Promise<string | undefined> {
  if (wish.given !== undefined) return fingerprintIn(wish.given);
  const { fingerprint, problem } = await certificateAt({
    host: plainHost(url),
    port: Number(url.port || 443),
    ca: wish.ca,
    signal: context.untilInterrupted(),
  });
  if (problem === undefined) return undefined;
  const [why] = problem.split(":");
  const what = `the certificate of ${url.host} cannot be checked (${why})`;
  if (!process.stdin.isTTY) {
    const fix = "compare it, and give it with --fingerprint, or the authority with --ca-file";
    const message = `${what}; its SHA-256 fingerprint is ${fingerprint}: ${fix}`;
    throw new RollcallError("UNAUTHENTICATED", message);
  }
  for (const line of wrap(`${clean(what)}. Its SHA-256 fingerprint is`, context.err.columns)) {
    await context.err.line(line);
  }
  await context.err.line(`\n  ${fingerprint}\n`);
  await context.err.line("Compare it with the one that `rollcall up` prints there.");
  if (await confirm(context, "Pin this certificate?")) return fingerprint;
  throw new RollcallError("UNAUTHENTICATED", "the certificate was not pinned: nothing was sent");
}

function plainHost({ hostname }: URL): string {
  return hostname.replaceAll(/[[\]]/g, "");
}

function fingerprintIn(text: string): string {
  const fingerprint = parseFingerprint(text);
  if (fingerprint !== undefined) return fingerprint;
  throw invalidArgument("--fingerprint is not a SHA-256: 64 hex digits");
}

/** The token for this call, and as the context keeps it. */
interface LoginCredential {
  readonly token: string | undefined;
  readonly kept: Pick<DaemonContext, "token" | "tokenFile">;
}

async function credentialOf(context: Context, { tokenFile }: Flags): Promise<LoginCredential> {
  if (tokenFile !== undefined) {
    const token = tokenIn(tokenFile, `--token-file ${tokenFile}`);
    return { token, kept: { tokenFile: resolve(tokenFile) } };
  }
  const isTyped = process.stdin.isTTY;
  const text = isTyped ? await askSecret(context, "Token (not shown):") : await piped();
  if (text.trim() === "") return { token: undefined, kept: {} };
  const token = checkToken(text, isTyped ? "the token" : "stdin");
  return { token, kept: { token } };
}

/** More than any token has is no token. */
const MOST_BYTES = 64 * 1024;

async function piped(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.length > MOST_BYTES) break;
  }
  return text;
}

function keep({ env }: Context, name: string, context: DaemonContext): void {
  const { byName } = readContexts(env);
  writeContexts({ current: name, byName: new Map([...byName, [name, context]]) }, env);
}
