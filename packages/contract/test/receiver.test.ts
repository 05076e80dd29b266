import { describe, expect, it } from '@jest/globals';
import { createReceiver, verify } from '@call-webhooks/core';
import { failure } from './failures.ts';
import { bytesOf, deliveries, headersOf, vectors } from './read-vectors.ts';

describe('our receiver', () => {
  it.each(vectors)('$id', async (vector) => {
    let now = 0;
    let effects = 0;
    const count = () => void (effects += 1);
    const receiver = createReceiver({
      secret: vector.secrets,
      now: () => now,
      logger: { warn: () => undefined, error: () => undefined },
      on: {
        'call:started': count,
        'call:completed': count,
        'call:recording-available': count,
      },
    });
    for (const [at, delivery] of vector.deliveries.entries()) {
      ({ now } = delivery);
      effects = 0;
      const { status } = await receiver.receive({
        method: delivery.method,
        headers: Object.fromEntries(delivery.headers),
        body: bytesOf(delivery),
      });
      expect(failure(vector, delivery, at, { status, effects })).toBeUndefined();
    }
  });
});

it('verify agrees', async () => {
  for (const { vector, delivery } of deliveries) {
    const verified = await verify(
      { headers: headersOf(delivery), body: bytesOf(delivery) },
      { secret: vector.secrets, now: () => delivery.now },
    ).then(
      () => true,
      () => false,
    );
    expect({ id: vector.id, verified }).toEqual({
      id: vector.id,
      verified: delivery.expect.result !== 'refuse',
    });
  }
});
