import { describe, expect, it } from '@jest/globals';
import { eventKey } from '@call-webhooks/core';
import { completedEvents } from '@call-webhooks/recovery';

describe('completedEvents', () => {
  it('makes an event with the key of the webhook that did not come', () => {
    const [event, ...others] = completedEvents({ _id: 'call-1', phone: '+1 555' });
    expect(others).toEqual([]);
    expect(event).toEqual({ eventName: 'call:completed', callId: 'call-1' });
    expect(eventKey(event ?? {})).toBe('call-1:call:completed');
  });
});
