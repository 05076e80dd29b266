import { expect } from '@jest/globals';
import { callBody, startSender } from '@call-webhooks/contract-tests';
import { generateSecret, sign } from '@call-webhooks/core';

/** Checks that samples receive what was signed with this secret. */
export function receives(secret: string) {
  /** A receiver over HTTP takes what was signed for it, once, and nothing else. */
  async function takesDeliveries(at: string): Promise<void> {
    const sender = startSender(at, secret);
    const body = callBody('c-1', 'call:completed', {
      endedAt: '2026-01-02T03:04:05Z',
      note: 'Zoë 📞',
    });
    const first = await sender.post(body);
    expect([first.status, ['handled', 'ignored'].includes(first.outcome ?? '')]).toEqual([
      200,
      true,
    ]);
    expect((await sender.post(body, { secret: generateSecret() })).outcome).toBe(
      'signature-mismatch',
    );
    const webhookId = crypto.randomUUID();
    await sender.post(body, { webhookId });
    expect((await sender.post(body, { webhookId })).outcome).toBe('replayed');
  }

  /** The same for a function of a fetch-style server. */
  async function takesRequests(handle: (request: Request) => Promise<Response>): Promise<void> {
    const body = callBody('c-1');
    const request = async (by: string) =>
      new Request('http://localhost/hook', {
        method: 'POST',
        body,
        headers: await sign({ secret: by, body }),
      });
    expect((await handle(await request(secret))).status).toBe(200);
    expect((await handle(await request(generateSecret()))).status).toBe(401);
  }

  return { takesDeliveries, takesRequests };
}
