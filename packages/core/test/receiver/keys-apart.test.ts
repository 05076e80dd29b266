import { expect, it } from '@jest/globals';
import { createTestReceiver, STARTED } from '../support.ts';

const COMPLETED = { eventName: 'call:completed', callId: 'c1' };
const pass = () => undefined;

it('two events with the same eventId and different names are both handled', async () => {
  const { z } = await import('zod');
  const schema = z.looseObject({});
  const { send } = createTestReceiver({
    events: { 'call:noted': schema, 'call:tagged': schema } as never,
    on: { 'call:noted': pass, 'call:tagged': pass },
  });
  expect(await send({ eventName: 'call:noted', eventId: 'e1' })).toBe('handled');
  expect(await send({ eventName: 'call:tagged', eventId: 'e1' })).toBe('handled');
  expect(await send({ eventName: 'call:noted', eventId: 'e1' })).toBe('duplicate');
});

it.each([
  ['a recording', { eventName: 'call:recording-available', eventId: 'c1:call:completed' }],
  ['a custom payload', { id: 'c1:call:completed' }],
])('%s whose id looks like the key of a call keeps out no call', async (_what, lookalike) => {
  const { send } = createTestReceiver({
    on: { 'call:recording-available': pass, 'call:completed': pass },
    custom: { key: (payload) => (payload as { id: string }).id, handle: pass },
  });
  expect(await send(lookalike)).toBe('handled');
  expect(await send(COMPLETED)).toBe('handled');
});

it('a call id that is the name of another kind of key keeps out nothing', async () => {
  const { send } = createTestReceiver({
    on: { 'call:started': pass },
    custom: { key: () => 'call:started', handle: pass },
  });
  expect(await send({ ...STARTED, callId: 'custom' })).toBe('handled');
  expect(await send({ any: 'payload' })).toBe('handled');
});

it('a webhook id that was seen is refused, also with another signed body', async () => {
  const { send } = createTestReceiver({ on: { 'call:started': pass, 'call:completed': pass } });
  expect(await send(STARTED, { webhookId: 'once' })).toBe('handled');
  expect(await send(COMPLETED, { webhookId: 'once' })).toBe('replayed');
  expect(await send({ some: 'thing' }, { webhookId: 'once' })).toBe('replayed');
});
