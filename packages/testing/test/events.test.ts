import { expect, it, jest } from '@jest/globals';
import { callDetails, createReceiver, EVENT_NAMES, eventKey } from '@call-webhooks/core';
import type { CallEventMap } from '@call-webhooks/core/internal';
import { systemClock, type Clock } from '@call-webhooks/client';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  createTestClock,
  deliver,
  TEST_SECRET,
} from '../src/index.ts';

it('has every field of its event, and no other', () => {
  const call = ['eventName', 'callId', 'fromPhoneNumber'];
  const guesses = ['userId', 'createdAt', 'toPhoneNumber', 'recipientEmail', 'recipientName'];
  expect(Object.keys(callStarted())).toEqual([...call, ...guesses, 'startedAt']);
  expect(Object.keys(callCompleted())).toEqual([...call, ...guesses, 'startedAt', 'endedAt']);
  expect(Object.keys(callRecordingAvailable())).toEqual([
    ...['eventName', 'eventId', 'callId', 'userId', 'workspaceId', 'recordingStartedAt'],
    ...['recordingDurationSeconds', 'occurredAt', 'recordingUrl'],
  ]);
  // The spec does not show the inner fields.
  expect(callStarted().fromPhoneNumber).toEqual({});
  const names = [callStarted(), callCompleted(), callRecordingAvailable()];
  expect(names.map(({ eventName }) => eventName)).toEqual(EVENT_NAMES);
});

it('makes another event each time', () => {
  const keys = [callStarted(), callStarted(), callCompleted(), callRecordingAvailable()];
  expect(new Set(keys.map(eventKey)).size).toBe(4);
});

it('derives the ids of a recording', () => {
  expect(callRecordingAvailable({ callId: 'c1' })).toMatchObject({
    eventId: 'c1:recording-available',
    recordingUrl: 'https://api.example.com/v1/calls/c1/recording',
  });
  expect(callRecordingAvailable({ callId: 'c1', eventId: 'e1' }).eventId).toBe('e1');
});

it('takes typed overrides', () => {
  expect(callStarted({ callId: 'c1' })).toMatchObject({ callId: 'c1' });
  expect(JSON.stringify(callCompleted({ callId: undefined }))).not.toContain('callId');
  // @ts-expect-error it is called callId
  callCompleted({ calId: 'c1' });
  // @ts-expect-error it is a text
  callCompleted({ callId: 1 });
  // @ts-expect-error the factory names the event
  callCompleted({ eventName: 'call:started' });
  // @ts-expect-error a call that starts has not ended
  callStarted({}, { call: { endedAt: new Date() } });
  callCompleted() satisfies CallEventMap['call:completed'];
});

it('writes the seven other fields by meaning, under the names that the receiver has', async () => {
  const fieldNames = { calledNumber: 'dialedNumber' };
  const call = {
    placedBy: 'user-1',
    createdAt: new Date('2026-01-02T03:04:05.678Z'),
    calledNumber: '+12025550101',
    calledEmail: 'ada@example.com',
    calledName: 'Ada Example',
    dialedAt: new Date('2026-01-02T03:04:06.000Z'),
    endedAt: new Date('2026-01-02T03:05:06.000Z'),
  };
  const event = callCompleted({}, { call, fieldNames });
  expect(event).toMatchObject({
    dialedNumber: '+12025550101',
    createdAt: 1_767_323_045_678,
    endedAt: '2026-01-02T03:05:06.000Z',
  });
  expect(callDetails(event, fieldNames)).toEqual(call);
  let seen: unknown;
  const on = {
    'call:completed': (_event: unknown, context: { call: unknown }) => (seen = context.call),
  };
  await deliver(createReceiver({ secret: TEST_SECRET, fieldNames, on }), event);
  expect(seen).toEqual(call);
});

it.each([{}, { endedAt: 'finished', dialedAt: undefined }])(
  'gives handlers the details that a real event has, under %j',
  async (fieldNames) => {
    const started = callDetails(callStarted({}, { fieldNames }), fieldNames);
    const completed = callCompleted({}, { fieldNames });
    const details = callDetails(completed, fieldNames);
    expect(details).toMatchObject({ placedBy: 'user-1', calledNumber: '+12025550101' });
    expect(started).toEqual({ ...details, endedAt: undefined });
    expect(details.endedAt).toBeInstanceOf(Date);
    expect(details.dialedAt?.getTime()).toBe('dialedAt' in fieldNames ? undefined : 1767323045678);
    const warn = jest.fn<() => void>();
    const on = { 'call:started': () => undefined, 'call:completed': () => undefined };
    const logger = { warn, error: warn };
    const receiver = createReceiver({ secret: TEST_SECRET, fieldNames, logger, on });
    for (const event of [callStarted({}, { fieldNames }), completed])
      expect((await deliver(receiver, event)).outcome).toBe('handled');
    expect(warn).not.toHaveBeenCalled();
  },
);

it('leaves out a detail that is undefined', () => {
  const call = { calledEmail: undefined };
  expect(callDetails(callCompleted({}, { call })).calledEmail).toBeUndefined();
  expect(JSON.stringify(callCompleted({}, { call }))).not.toContain('recipientEmail');
});

it('a clock calls back when time has come, in order', () => {
  const clock = createTestClock(1_000) satisfies Clock;
  const calls: [string, number][] = [];
  const note = (name: string) => () => void calls.push([name, clock.now()]);
  clock.schedule(20, note('second'));
  clock.schedule(10, () => {
    note('first')();
    clock.schedule(5, note('nested'));
  });
  clock.schedule(15, note('never'))();
  clock.schedule(21, note('later'));
  clock.advance(20);
  expect(calls).toEqual([
    ['first', 1_010],
    ['nested', 1_015],
    ['second', 1_020],
  ]);
  expect(clock.now()).toBe(1_020);
  expect(Object.keys(systemClock).every((name) => name in clock)).toBe(true);
});
