import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { Routes } from '../../src/events/route.ts';
import type { HandlerOptions } from '../../src/index.ts';
import { bytes, RECORDING, STARTED } from '../support.ts';

const handler = () => undefined;
const find = async (payload: unknown, options: unknown = {}) => {
  const routes = new Routes({ ...(options as HandlerOptions), fieldNames: {}, logger: console });
  const route = await routes.find(bytes(JSON.stringify(payload)), undefined);
  if (route.invalid) throw route.invalid;
  return route;
};

describe('an event with missing or odd fields', () => {
  describe.each(Object.keys(RECORDING).filter((field) => field !== 'eventName'))(
    'a recording whose %s',
    (field) => {
      const on = { 'call:recording-available': handler };
      it.each([
        ['is missing', undefined],
        ['is null', null],
        ['is odd', { raw: true }],
      ])('%s is handled', async (_how, value) => {
        const event = { ...RECORDING, [field]: value };
        const route = await find(event, { on });
        expect(route).toMatchObject({ outcome: 'handled', handle: handler });
        expect((route.event as Record<string, unknown>)[field]).toBeUndefined();
        expect(route.body).toEqual(JSON.parse(JSON.stringify(event)));
      });
    },
  );

  it('accepts a fractional duration, and leaves a numeric time to the raw body', async () => {
    const event = { ...RECORDING, recordingDurationSeconds: 12.5, occurredAt: 1_760_000_000_000 };
    const route = await find(event, { on: { 'call:recording-available': handler } });
    expect(route.event).toEqual({ ...event, occurredAt: undefined });
    expect(route.body).toEqual(event);
  });

  it('refuses a recording without eventId and callId if it has a handler', async () => {
    for (const ids of [
      { eventId: '', callId: null },
      { eventId: undefined, callId: undefined },
    ]) {
      const event = { ...RECORDING, ...ids };
      const handled = find(event, { on: { 'call:recording-available': handler } });
      await expect(handled).rejects.toMatchObject({
        code: 'invalid-payload',
        eventName: 'call:recording-available',
        message: 'The event has neither an eventId nor a callId.',
      });
      expect(await find(event)).toMatchObject({ outcome: 'ignored' });
    }
  });

  it('accepts a recording whose only id is odd, without a key', async () => {
    for (const ids of [
      { eventId: undefined, callId: 42 },
      { eventId: 7, callId: [] },
    ]) {
      const event = { ...RECORDING, ...ids };
      const route = await find(event, { on: { 'call:recording-available': handler } });
      expect(route).toMatchObject({ outcome: 'handled', callId: undefined, key: undefined });
      expect(route.event).toEqual({ ...event, eventId: undefined, callId: undefined });
      expect(route.body).toEqual(JSON.parse(JSON.stringify(event)));
    }
  });

  it.each<[string, object, object]>([
    ['a callId that is a number', { callId: 5 }, { callId: undefined }],
    ['an endless callId', { callId: 'x'.repeat(4_001) }, {}],
    ['a fromPhoneNumber that is a text', { fromPhoneNumber: '+1' }, { fromPhoneNumber: undefined }],
    ['a fromPhoneNumber that is a list', { fromPhoneNumber: [1] }, { fromPhoneNumber: undefined }],
  ])('handles %s', async (_name, change, typed) => {
    const event = { ...STARTED, ...change };
    const route = await find(event, { on: { 'call:started': handler } });
    expect(route.event).toEqual({ ...event, ...typed });
    expect(route.body).toEqual(event);
  });

  it('never refuses an event without a handler', async () => {
    const events = { 'call:voicemail': z.object({ seconds: z.number() }) };
    for (const event of [
      { eventName: 'call:voicemail' },
      { eventName: 'call:recording-available' },
    ])
      for (const onUnhandled of [undefined, handler])
        expect(await find(event, { events, onUnhandled })).toMatchObject({
          outcome: onUnhandled ? 'handled' : 'ignored',
          event,
        });
  });
});
