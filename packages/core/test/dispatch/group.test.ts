import { describe, expect, it, jest } from '@jest/globals';
import { memoryStore, type HandlerContext } from '../../src/index.ts';
import { createTestReceiver, RECORDING, STARTED } from '../support.ts';

const completed = (callId: string) => ({ eventName: 'call:completed', callId });

const NAMED = { ...RECORDING, calledName: 'Ada Lovelace' };

describe('groups of oneAtATime', () => {
  /** The group that a payload is claimed with, and the key. */
  async function claimed(payload: unknown, options: object) {
    const inner = memoryStore();
    const admit = jest.fn(inner.admit);
    const handle = jest.fn<(payload: unknown, context: HandlerContext) => void>();
    const on = { 'call:started': handle, 'call:recording-available': handle };
    const test = createTestReceiver({ store: { ...inner, admit }, on, ...options });
    const code = await test.send(payload, { webhookId: 'w-1' });
    const [claim] = admit.mock.calls[0] ?? [];
    const { key } = handle.mock.calls[0]?.[1] ?? {};
    return { code, group: claim?.group, claimedKey: claim?.key, key, ...test };
  }
  const byUser = { oneAtATime: (call: { userId?: unknown }) => call.userId as string };

  it('are made of the callId, or by a function of what the handler gets', async () => {
    expect((await claimed(RECORDING, { oneAtATime: true })).group).toBe('call-1');
    expect((await claimed(RECORDING, byUser)).group).toBe('user-1');
    const custom = { handle: () => undefined };
    const ofCustom = await claimed({ userId: 'user-2' }, { custom, ...byUser });
    expect(ofCustom).toMatchObject({ code: 'handled', group: 'user-2' });
    const onUnhandled = () => undefined;
    const unhandled = await claimed(completed('c'), { oneAtATime: true, onUnhandled });
    expect(unhandled).toMatchObject({ code: 'ignored', group: 'c' });
  });

  it('may be as long as a key', async () => {
    const longest = 'x'.repeat(4_000);
    expect((await claimed(STARTED, { oneAtATime: () => longest })).group).toBe(longest);
  });

  it('are left out for an event of no group, or without a handler', async () => {
    for (const callId of [undefined, null, '', 7, 'x'.repeat(4_001)]) {
      const { code, group } = await claimed({ ...RECORDING, callId }, { oneAtATime: true });
      expect([code, group]).toEqual(['handled', undefined]);
    }
    for (const none of [undefined, null])
      expect(await claimed(STARTED, { oneAtATime: () => none })).toMatchObject({ code: 'handled' });
    const throwing = { oneAtATime: () => JSON.parse('') as string };
    expect(await claimed(completed('c'), throwing)).toMatchObject({ code: 'ignored' });
  });

  it('are leased with the webhook id for an event without a key, whose handler gets no key', async () => {
    const keyless = { eventName: 'call:started', userId: 'user-1' };
    const { code, group, claimedKey, key } = await claimed(keyless, byUser);
    expect([code, group, claimedKey, key]).toEqual([
      ...['handled', 'user-1', 'webhook-id:w-1'],
      undefined,
    ]);
  });

  it('are refused where a function throws or gives no text; the payload stays out of the error', async () => {
    const functions = [
      (call: { calledName?: unknown }) => {
        throw new Error(`no group for ${String(call.calledName)}`);
      },
      () => '',
      () => 7,
      () => 'x'.repeat(4_001),
      () => Promise.resolve('user-1'),
    ];
    for (const oneAtATime of functions) {
      const { code, outcomes, lines } = await claimed(NAMED, { oneAtATime });
      expect(code).toBe('invalid-payload');
      expect(outcomes[0]?.error?.message).toContain('oneAtATime');
      expect(JSON.stringify([outcomes[0]?.error?.message, lines])).not.toContain('Lovelace');
      const deadLetter = jest.fn();
      const kept = await claimed(RECORDING, { oneAtATime, deadLetter });
      expect(kept.code).toBe('dead-lettered');
      expect(deadLetter).toHaveBeenCalledTimes(1);
    }
  });

  it('take true or a function, and no queue', () => {
    const queue = { enqueue: () => Promise.resolve() };
    const create = (options: object) => () => createTestReceiver(options);
    for (const oneAtATime of [false, 'callId', 1, null])
      expect(create({ oneAtATime })).toThrow('oneAtATime: expected true or a function');
    expect(create({ oneAtATime: true, queue })).toThrow('pg_advisory_xact_lock');
    expect(create({ queue })).not.toThrow();
  });
});
