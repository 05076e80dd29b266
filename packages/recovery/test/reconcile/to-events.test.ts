import { describe, expect, it } from '@jest/globals';
import { eventKey } from '@call-webhooks/core';
import { completedEvents } from '@call-webhooks/recovery';

const HOUR = 3_600_000;
const BEGAN = Date.UTC(2026, 0, 31, 12);
const at = (hours: number) => ({ until: new Date(BEGAN + hours * HOUR) });

describe('completedEvents', () => {
  const call = { _id: 'call-1', createdAt: BEGAN, phone: '+1 555' };

  it('makes an event with the key of the webhook that did not come, and nothing else of the record', () => {
    const ended = { ...call, endedAt: new Date(BEGAN + HOUR).toISOString() };
    const events = completedEvents()(ended, at(1));
    expect(events).toEqual([{ eventName: 'call:completed', callId: 'call-1' }]);
    expect(eventKey(events[0] ?? {})).toBe('call-1:call:completed');
    expect(completedEvents()(ended, at(0.99))).toEqual([]);
  });

  it('takes a call for running while its record has no end, for four hours', () => {
    expect(completedEvents()(call, at(3.99))).toEqual([]);
    expect(completedEvents()(call, at(4))).toHaveLength(1);
    expect(completedEvents()({ _id: 'undated' }, at(1_000))).toEqual([]);
  });

  it('reads the times from the fields that it is given', () => {
    const own = completedEvents({ createdAt: 'made', endedAt: 'over' });
    const renamed = { _id: 'c', made: BEGAN, over: BEGAN + HOUR };
    expect([own(renamed, at(1)).length, own(renamed, at(0.5)).length]).toEqual([1, 0]);
    expect(completedEvents()(renamed, at(10))).toEqual([]);
  });
});
