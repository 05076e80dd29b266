import { describe, expect, it } from '@jest/globals';
import { createTestReceiver, delivery, STARTED } from '../support.ts';

const on = { 'call:started': () => undefined };

describe('a replay whose key the code of the user changes', () => {
  const twice = async (options: Parameters<typeof createTestReceiver>[0], body: object) => {
    const { receiver } = createTestReceiver(options);
    const request = await delivery(body, { webhookId: 'replayed' });
    const { outcome: first } = await receiver.receive(request);
    const { outcome: second } = await receiver.receive(request);
    return [first.outcome, second.outcome];
  };

  it('is refused if it is a custom payload', async () => {
    let count = 0;
    const custom = { key: () => `key-${String(++count)}`, handle: () => undefined };
    expect(await twice({ custom }, { id: 1 })).toEqual(['handled', 'replayed']);
  });

  it('is refused if oneAtATime throws the second time', async () => {
    let count = 0;
    const oneAtATime = () => {
      if (++count > 1) throw new Error('no');
      return 'group';
    };
    const deadLetter = () => undefined;
    expect(await twice({ on, oneAtATime, deadLetter }, STARTED)).toEqual(['handled', 'replayed']);
  });

  it('is refused if a schema fails the second time', async () => {
    let count = 0;
    const validate = (value: unknown) =>
      ++count > 1 ? { issues: [{ message: 'no' }] } : { value };
    const schema = { '~standard': { version: 1, vendor: 'test', validate } } as never;
    const more = { events: { 'call:voicemail': schema }, deadLetter: () => undefined };
    const options = { ...more, on: { 'call:voicemail': () => undefined } } as never;
    const event = { eventName: 'call:voicemail', callId: 'c1' };
    expect(await twice(options, event)).toEqual(['handled', 'replayed']);
  });
});
