/** A real issuer of JWTs: an HTTP server with a description and keys that a test may change. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import {
  exportJWK,
  generateKeyPair,
  SignJWT,
  type CryptoKey,
  type JWK,
  type JWTPayload,
} from "jose";

interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: CryptoKey;
  readonly publicJwk: JWK;
}

export interface JwtOptions {
  readonly claims?: JWTPayload;
  readonly audience?: string;
  readonly issuer?: string;
  /** In ms since 1970; an hour from `nowMs` on unless set, and none for `false`. */
  readonly expiresAtMs?: number | false;
  readonly notBeforeMs?: number;
}

type Answer = (response: ServerResponse) => void;

export class TestIssuer implements AsyncDisposable {
  readonly #server: Server;
  readonly #keys: SigningKey[] = [];
  /** Replaces the answer with the keys: it may hang, be huge, or be nonsense. */
  answer: Answer | undefined;
  /** How often it was asked for its keys. */
  asked = 0;
  #made = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      if (request.url === "/.well-known/openid-configuration") {
        return sendJson(response, { issuer: this.url, jwks_uri: `${this.url}/keys` });
      }
      this.asked += 1;
      if (this.answer) return this.answer(response);
      sendJson(response, { keys: this.#keys.map(({ publicJwk }) => publicJwk) });
    });
  }

  static async start(): Promise<TestIssuer> {
    const issuer = new TestIssuer();
    await new Promise<void>((resolve) => void issuer.#server.listen(0, "127.0.0.1", resolve));
    await issuer.rotate();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** From now on it signs with a new key, and has no other. */
  async rotate(alg = "ES256"): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${(this.#made += 1)}`;
    const publicJwk = { ...(await exportJWK(publicKey)), kid, alg, use: "sig" };
    this.#keys.splice(0, this.#keys.length, { kid, alg, privateKey, publicJwk });
  }

  async jwt(nowMs: number, options: JwtOptions = {}): Promise<string> {
    const [key] = this.#keys;
    if (!key) throw new Error("the issuer has no key");
    return this.#claims(nowMs, options)
      .setProtectedHeader({ alg: key.alg, kid: key.kid })
      .sign(key.privateKey);
  }

  /** Signed with a secret: the public key itself, where none is given, as attackers try. */
  async symmetricJwt(nowMs: number): Promise<string> {
    const [key] = this.#keys;
    const secret = new TextEncoder().encode(JSON.stringify(key?.publicJwk));
    return this.#claims(nowMs, {})
      .setProtectedHeader({ alg: "HS256", kid: key?.kid ?? "" })
      .sign(secret);
  }

  #claims(nowMs: number, options: JwtOptions): SignJWT {
    const { claims = {}, audience = "rollcall", issuer = this.url } = options;
    const { expiresAtMs = nowMs + 3_600_000, notBeforeMs } = options;
    const jwt = new SignJWT({ sub: "ann", groups: ["staff"], ...claims });
    jwt.setIssuer(issuer).setAudience(audience);
    if (expiresAtMs !== false) jwt.setExpirationTime(Math.floor(expiresAtMs / 1000));
    if (notBeforeMs !== undefined) jwt.setNotBefore(Math.floor(notBeforeMs / 1000));
    return jwt;
  }

  /** Nobody answers there from now on. */
  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function sendJson(response: ServerResponse, value: unknown): void {
  response.setHeader("content-type", "application/json").end(JSON.stringify(value));
}
