import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { ErrorInfo, ReceiverRequest } from '../../src/index.ts';
import { createTestReceiver, delivery, STARTED } from '../support.ts';

const fail = () => {
  throw new Error('no');
};
const reject = (() => Promise.reject(new Error('no'))) as NonNullable<ReceiverRequest['waitUntil']>;

describe('waitUntil', () => {
  beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate'] }));
  afterEach(() => void jest.useRealTimers());

  it.each([
    ['throws', fail],
    ['rejects', reject],
  ])(
    'that %s does not change the response; the log and onError tell of it',
    async (_how, waitUntil) => {
      const signals: AbortSignal[] = [];
      const errors: [unknown, ErrorInfo][] = [];
      const { receiver, lines } = createTestReceiver({
        onError: (error, info) => void errors.push([error, info]),
        on: {
          'call:started': (_event: unknown, { signal }: { signal: AbortSignal }) => {
            signals.push(signal);
            return new Promise(() => undefined);
          },
        },
      });
      const answer = receiver.receive({ ...(await delivery(STARTED)), waitUntil });
      await jest.advanceTimersByTimeAsync(20_010);
      expect((await answer).outcome).toMatchObject({ outcome: 'deadline', status: 503 });
      expect(signals[0]?.aborted).toBe(true);
      expect(lines.join()).toContain('waitUntil failed: Error: no');
      const info = { code: 'deadline', source: 'hook', callId: 'call-1', lastAttempt: false };
      expect(errors).toMatchObject([[new Error('no'), info]]);
    },
  );
});
