import { describe, expect, it } from '@jest/globals';
import { memoryStore } from '../../src/index.ts';
import { createTestReceiver, bytes, delivery, STARTED } from '../support.ts';

const COMPLETED = { ...STARTED, eventName: 'call:completed' };
const fail = () => {
  throw new Error('no');
};

describe('hooks that throw', () => {
  it('do not change the response', async () => {
    const loud = { warn: fail, error: fail };
    const hooks = { logger: loud, onOutcome: fail };
    const { receiver } = createTestReceiver({
      ...hooks,
      on: { 'call:started': () => undefined, 'call:completed': fail },
    });
    const code = async (payload: unknown) =>
      (await receiver.receive(await delivery(payload))).outcome.outcome;
    expect(await code(STARTED)).toBe('handled');
    expect(await code(COMPLETED)).toBe('handler-failed');
    expect(await code(bytes('{'))).toBe('invalid-payload');
    expect((await receiver.receive({ headers: {}, body: new Uint8Array() })).status).toBe(401);
  });

  it('do not make receive reject', async () => {
    const clock = fail as unknown as () => number;
    const { receiver } = createTestReceiver({ now: clock, store: memoryStore() });
    expect((await receiver.receive(await delivery(STARTED))).status).toBe(500);
  });
});
