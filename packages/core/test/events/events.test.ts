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
    ['an eventId of an unknown event', { eventName: 'call:new', eventId: 'e', callId: 'c' }, 'e'],
    [
      'a recording without an eventId',
      { ...RECORDING, eventId: null },
      'call-1:call:recording-available',
    ],
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

  it('gives two pairs of call and event two keys', () => {
    const part = fc.string({
      unit: fc.constantFrom('a', ':', '%', '3', 'A'),
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(part, part, part, part, (call1, name1, call2, name2) => {
        const one = eventKey({ callId: call1, eventName: name1 });
        const two = eventKey({ callId: call2, eventName: name2 });
        expect(one === two).toBe(call1 === call2 && name1 === name2);
      }),
      { seed: SEED, numRuns: runs(200) },
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
