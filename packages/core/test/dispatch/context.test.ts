import { describe, expect, it } from '@jest/globals';
import type { HandlerContext } from '../../src/index.ts';
import { createJobProcessor } from '../../src/stores.ts';
import { toBase64 } from '../../src/base64.ts';
import { bytes, createTestReceiver, NOW, SECONDS, STARTED } from '../support.ts';

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

  it('says whether the delivery waited in a queue', async () => {
    const queued: boolean[] = [];
    const on = {
      'call:started': (_event: unknown, context: HandlerContext) =>
        void queued.push(context.queued),
    };
    await createTestReceiver({ on }).send(STARTED);
    const body = toBase64(bytes(JSON.stringify(STARTED)));
    await createJobProcessor({ on })({
      ...{ webhookId: 'w', timestamp: SECONDS, receivedAt: NOW, body },
    });
    expect(queued).toEqual([false, true]);
  });
});
