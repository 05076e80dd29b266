import { generateSecret, sign } from '@call-webhooks/core';

/** A request as it reaches a receiver. */
export interface FuzzRequest {
  method: string;
  headers: Record<string, string | string[] | undefined>;
  body: Buffer;
}

/** Signs requests, and remembers what it signed: a handler must never get anything else. */
export class SignedRequests {
  readonly secret = generateSecret();
  readonly #signed = new Map<string, { timestamp: number; body: Buffer }>();

  async next(body: Buffer): Promise<FuzzRequest> {
    const webhookId = `fuzz-${String(this.#signed.size)}`;
    const timestamp = Math.floor(Date.now() / 1000);
    const signed = await sign({ secret: this.secret, body, webhookId, timestamp });
    this.#signed.set(webhookId, { timestamp, body: Buffer.from(body) });
    const headers = Object.fromEntries(
      Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]),
    );
    return { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body };
  }

  /** Whether exactly these bytes were signed with this id and timestamp. */
  has(webhookId: string, timestamp: Date, rawBody: Uint8Array): boolean {
    const signed = this.#signed.get(webhookId);
    return (
      signed !== undefined &&
      signed.timestamp * 1000 === timestamp.getTime() &&
      signed.body.equals(rawBody)
    );
  }
}
