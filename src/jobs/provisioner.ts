/**
 * Credentials made for one job: issued before it is accepted, bounded by its lease, and revoked
 * when it ends, however it ends. The issuer is behind this interface; that every one of them
 * is revoked, across crashes too, is our business.
 */
export interface IssuedCredential {
  readonly id: string;
  readonly scheme: "bearer";
  readonly value: string;
  readonly endpoint: string;
  readonly profile?: string;
  /** Under the names of the lease: `cost.budget`, `model.use`, `expires_at`. */
  readonly constraints?: Readonly<Record<string, unknown>>;
}

export interface IssueRequest {
  readonly jobId: string;
  readonly principal: string;
  readonly agent: string;
  /** Limits that the credential must not exceed. */
  readonly constraints: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

export interface RevokeRequest {
  readonly jobId: string;
  /**
   * Empty when the process died before it learnt them: then all that was issued for this job. It
   * may be asked again for what is gone already, and then resolves.
   */
  readonly credentialIds: readonly string[];
  readonly signal: AbortSignal;
}

export interface Provisioner {
  issue(request: IssueRequest): Promise<readonly IssuedCredential[]>;
  revoke(request: RevokeRequest): Promise<void>;
  /** A new value for one of them; the old one ends. */
  rotate?(request: RevokeRequest): Promise<IssuedCredential>;
}
