import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { createTestReceiver, bytes } from '../support.ts';

// What every object inherits: a lookup by a name from the body must not find it.
const NAMES = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf'];
const event = (name: string) => bytes(`{"eventName":"${name}","eventId":"e-1"}`);

describe.each(NAMES)('an event called %s', (name) => {
  it.each<[string, object]>([
    ['no handlers', {}],
    ['handlers', { on: { 'call:started': () => undefined } }],
    [
      'events of its own',
      { events: { 'call:voicemail': z.object({}) }, on: { 'call:voicemail': () => undefined } },
    ],
    ['a dead letter', { events: { 'call:voicemail': z.object({}) }, deadLetter: () => undefined }],
  ])('is an unknown event to a receiver with %s', async (_with, options) => {
    const onUnhandled = jest.fn();
    const { send, outcomes } = createTestReceiver({ ...options, onUnhandled });
    expect(await send(event(name))).toBe('ignored');
    expect(outcomes[0]).toMatchObject({ status: 200, eventName: name, key: `event:${name}:e-1` });
    expect(onUnhandled).toHaveBeenCalledTimes(1);
    expect(await send(event(name))).toBe('duplicate');
  });
});
