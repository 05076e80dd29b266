import { eventKey, memoryStore } from '@call-webhooks/core';

/** Remembers webhook ids and events, as a receiver does: what came before is told apart. */
export class Memory {
  readonly #store = memoryStore({ maxEntries: 10_000, onEvicted: () => undefined });

  /** `replayed`, `duplicate`, or `handled` for what is new. */
  async meet(webhookId: string, body: Uint8Array): Promise<'handled' | 'duplicate' | 'replayed'> {
    const key = keyOf(body);
    const token = crypto.randomUUID();
    const replayUntil = Date.now() + 600_000;
    const { status } = await this.#store.admit({
      webhookId,
      replayUntil,
      leaseMs: 1_000,
      token,
      ...(key !== undefined && { key }),
    });
    if (status === 'replayed') return 'replayed';
    if (status !== 'admitted') return 'duplicate';
    if (key !== undefined) await this.#store.complete(key, token);
    return 'handled';
  }
}

function keyOf(body: Uint8Array): string | undefined {
  try {
    const event: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof event === 'object' && event !== null ? eventKey(event) : undefined;
  } catch {
    return undefined;
  }
}
