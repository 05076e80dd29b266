import { describe, expect, it } from '@jest/globals';
import { memoryDeadLetters } from '../../src/index.ts';
import { createTestReceiver, STARTED } from '../support.ts';

const fail = () => {
  throw new Error('no');
};

describe('receiver.health()', () => {
  it('asks where dead letters are kept, if that can be asked', async () => {
    const full = memoryDeadLetters({ maxLetters: 1 });
    const { receiver } = createTestReceiver({ deadLetter: full });
    expect(await receiver.health()).toMatchObject({ ok: true, deadLetter: { status: 'up' } });
    const failing = createTestReceiver({
      deadLetter: full,
      maxAttempts: 1,
      on: { 'call:started': fail },
    });
    expect(await failing.send(STARTED)).toBe('dead-lettered');
    expect(await receiver.health()).toMatchObject({
      ok: true, // what succeeds is still accepted
      deadLetter: { status: 'down', error: expect.stringContaining('is full') },
    });
    const own = createTestReceiver({ deadLetter: { put: () => Promise.resolve() } });
    expect(await own.receiver.health()).toMatchObject({
      ok: true,
      deadLetter: { status: 'unknown' },
    });
    const sink = createTestReceiver({ deadLetter: () => undefined });
    expect(await sink.receiver.health()).not.toHaveProperty('deadLetter');
  });
});
