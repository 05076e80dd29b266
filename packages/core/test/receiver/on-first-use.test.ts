import { describe, expect, it } from '@jest/globals';
import { createReceiverOnFirstUse } from '../../src/internal.ts';
import { delivery, Lines, NOW, SECRET, STARTED } from '../support.ts';

describe('createReceiverOnFirstUse', () => {
  it.each([undefined, ''])('answers 503 while the secret is %p, and logs why', async (secret) => {
    const logger = new Lines();
    const receiver = createReceiverOnFirstUse({ secret, logger, now: () => NOW });
    const { headers, body } = await delivery(STARTED);
    const { status, outcome } = await receiver().receive({ headers, body });
    expect([status, outcome.outcome]).toEqual([503, 'secret-unavailable']);
    expect(logger.all).toEqual([expect.stringContaining('Is the environment variable set?')]);
  });

  it.each([
    [[SECRET, undefined], 'at position 2 of the list is undefined'],
    [[undefined, SECRET], 'at position 1 of the list is undefined'],
    [[SECRET, ' '], 'at position 2 of the list is empty'],
    [[{ id: 'calls', secret: '' }, SECRET], 'at position 1 of the list is empty'],
  ])('answers 503 while one of several is missing, and says which', async (secret, message) => {
    const logger = new Lines();
    const receiver = createReceiverOnFirstUse({ secret, logger, now: () => NOW });
    const { headers, body } = await delivery(STARTED);
    const { status, outcome } = await receiver().receive({ headers, body });
    expect([status, outcome.outcome]).toEqual([503, 'secret-unavailable']);
    expect(logger.all).toEqual([expect.stringContaining(message)]);
  });

  it('answers 503 without a secret to every tenant, and never 401', async () => {
    const options = { secret: undefined as never, logger: new Lines(), now: () => NOW };
    const receiver = createReceiverOnFirstUse({ ...options, tenant: () => 'acme' });
    const { headers, body } = await delivery(STARTED);
    const { status, outcome } = await receiver().receive({ headers, body });
    expect([status, outcome.outcome]).toEqual([503, 'secret-unavailable']);
  });

  it('makes one receiver, when it is first needed', async () => {
    let read = 0;
    const options = {
      get secret() {
        read += 1;
        return SECRET;
      },
      logger: new Lines(),
      now: () => NOW,
    };
    const receiver = createReceiverOnFirstUse(options);
    expect(read).toBe(0);
    expect(receiver()).toBe(receiver());
    const { headers, body } = await delivery(STARTED);
    expect((await receiver().receive({ headers, body })).status).toBe(200);
  });

  it('throws for any other mistake, when it is first used', () => {
    const receiver = createReceiverOnFirstUse({ secret: 'whsec_%' });
    expect(() => receiver()).toThrow('contains the character U+0025 (%)');
    expect(() => createReceiverOnFirstUse({ secret: [] })()).toThrow('is empty');
  });
});
