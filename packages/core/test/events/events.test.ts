import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { typedEvent } from '../../src/events/events.ts';
import { eventKey } from '../../src/index.ts';
import { RECORDING, runs, SEED, STARTED } from '../support.ts';

describe('eventKey', () => {
  it.each<[string, object, string | undefined]>([
    ['eventId', RECORDING, 'call-1:recording-available'],
    ['callId and eventName', STARTED, 'call-1:call:started'],
    [
      'another event of the call',
      { ...STARTED, eventName: 'call:completed' },
      'call-1:call:completed',
    ],
    ['an eventId of a call event', { ...STARTED, eventId: 'other' }, 'call-1:call:started'],
    [
      'an eventId of a completed call',
      { ...STARTED, eventName: 'call:completed', eventId: 'other' },
      'call-1:call:completed',
    ],
    [
      'an eventId of an unknown event',
      { eventName: 'call:new', eventId: 'e', callId: 'c' },
      'event:call%3Anew:e',
    ],
    ['a recording without an eventId', { ...RECORDING, eventId: null }, undefined],
    ['an unknown event without an eventId', { eventName: 'call:new', callId: 'c' }, undefined],
    ['an empty eventId', { ...STARTED, eventId: '' }, 'call-1:call:started'],
    ['an eventId that is no text', { ...STARTED, eventId: 7 }, 'call-1:call:started'],
    ['no callId', { eventName: 'call:completed' }, undefined],
    ['an empty callId', { eventName: 'call:completed', callId: '' }, undefined],
    ['a callId that is no text', { eventName: 'call:completed', callId: null }, undefined],
    ['no eventName', { callId: 'call-1' }, undefined],
    ['nothing', {}, undefined],
  ])('from %s', (_name, event, expected) => {
    expect(eventKey(event)).toBe(expected);
  });

  it('gives two events two keys, whatever their ids are', () => {
    const part = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', ':', '%', '3', 'A'), minLength: 1, maxLength: 5 }),
      fc.constantFrom('event', 'custom', 'tenant', 'a:recording-available', 'a:call:completed'),
    );
    const name = fc.oneof(
      part,
      fc.constantFrom('call:started', 'call:completed', 'call:recording-available'),
    );
    const isCall = (eventName: string) => /^call:(started|completed)$/.test(eventName);
    const event = fc.tuple(name, part).map(([eventName, id]) => ({
      eventName,
      [isCall(eventName) ? 'callId' : 'eventId']: id,
    }));
    fc.assert(
      fc.property(event, event, (one, two) => {
        expect(eventKey(one) === eventKey(two)).toBe(JSON.stringify(one) === JSON.stringify(two));
      }),
      { seed: SEED, numRuns: runs(500) },
    );
  });

  it('depends on nothing else in the body', () => {
    expect(eventKey({ ...STARTED, more: 1 })).toBe(eventKey(STARTED));
  });
});

describe('typedEvent', () => {
  it('gives an event as it was sent if no field has an odd type: missing ones are not added', () => {
    const event = { eventName: 'call:started', callId: 'call-1' };
    const typed = typedEvent('call:started', event);
    expect(typed).toBe(event);
    expect(Object.keys(typed)).toEqual(['eventName', 'callId']);
  });
});
