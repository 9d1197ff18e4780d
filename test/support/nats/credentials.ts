/**
 * Credentials of NATS as `nsc` makes them: an operator that signs an account, which signs users.
 * A server trusts the operator's key alone; a user proves that it has the key of its JWT.
 */
import { createHash } from "node:crypto";
import { nkeys } from "@nats-io/transport-node";

const { createAccount, createOperator, createUser } = nkeys;
type KeyPair = nkeys.KeyPair;

export interface NatsOperator {
  /** Lines of a server's configuration. */
  readonly configuration: string;
  /** The content of a file of credentials; another one is of an account that nobody knows. */
  readonly credentials: string;
  readonly strangerCredentials: string;
}

export function natsOperator(): NatsOperator {
  const operator = createOperator();
  const [account, system, stranger] = [createAccount(), createAccount(), createAccount()];
  const operatorJwt = signed(operator, operator, { type: "operator" });
  const accountJwt = signed(operator, account, { type: "account", limits: ALL });
  const systemJwt = signed(operator, system, { type: "account" });
  return {
    configuration: `
      operator: ${operatorJwt}
      system_account: ${system.getPublicKey()}
      resolver: MEMORY
      resolver_preload: {
        ${account.getPublicKey()}: ${accountJwt}
        ${system.getPublicKey()}: ${systemJwt}
      }`,
    credentials: userOf(account),
    strangerCredentials: userOf(stranger),
  };
}

/** Without bounds, JetStream too. */
const UNBOUNDED = "subs data payload imports exports conn leaf mem_storage disk_storage streams";
const ALL = {
  ...Object.fromEntries(UNBOUNDED.split(" ").map((name) => [name, -1])),
  wildcards: true,
};

function userOf(account: KeyPair): string {
  const user = createUser();
  const jwt = signed(account, user, { type: "user", subs: -1, data: -1, payload: -1 });
  const seed = new TextDecoder().decode(user.getSeed());
  return `-----BEGIN NATS USER JWT-----
${jwt}
------END NATS USER JWT------

-----BEGIN USER NKEY SEED-----
${seed}
------END USER NKEY SEED------
`;
}

function signed(by: KeyPair, subject: KeyPair, nats: Readonly<Record<string, unknown>>): string {
  const body = {
    iat: Math.floor(Date.now() / 1000),
    iss: by.getPublicKey(),
    name: String(nats["type"]),
    sub: subject.getPublicKey(),
    nats: { ...nats, version: 2 },
  };
  const jti = createHash("sha256").update(JSON.stringify(body)).digest("hex");
  const text = [
    { typ: "JWT", alg: "ed25519-nkey" },
    { ...body, jti },
  ]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const signature = Buffer.from(by.sign(new TextEncoder().encode(text)));
  return `${text}.${signature.toString("base64url")}`;
}
