import { describe, expect, it } from '@jest/globals';
import type { HandlerContext } from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';

describe('a context', () => {
  it('keeps every property in a spread', async () => {
    const contexts: HandlerContext[] = [];
    const { send } = createTestReceiver({
      on: {
        'call:started': (_event: unknown, context: HandlerContext) =>
          void contexts.push(context, { ...context }),
      },
    });
    expect(await send(STARTED)).toBe('handled');
    const [context, spread] = contexts as [HandlerContext, HandlerContext];
    expect(Object.keys(spread).sort()).toEqual(
      [
        'attempt',
        'body',
        'payload',
        'call',
        'completeIn',
        'key',
        'log',
        'queued',
        'rawBody',
        'receivedAt',
        'secretId',
        'signal',
        'source',
        'timestamp',
        'webhookId',
      ].sort(),
    );
    expect(spread.signal).toBe(context.signal);
    expect(spread).toMatchObject({ webhookId: context.webhookId, body: STARTED, attempt: 1 });
    expect(spread.rawBody).toBe(context.rawBody);
  });
});
