import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it, jest } from '@jest/globals';
import { type Clock, systemClock } from '@call-webhooks/client';
import {
  callDetails,
  createReceiver,
  EVENT_NAMES,
  eventKey,
  generateSecret,
  type CallEventMap,
} from '@call-webhooks/core';
import { createNodeHandler } from '@call-webhooks/core/node';
import { createWebHandler } from '@call-webhooks/core/web';
import express from 'express';
import {
  callCompleted,
  callRecordingAvailable,
  callStarted,
  createTestClock,
  deliver,
  deliverTwice,
  forged,
  signedRequest,
  type Target,
  TEST_SECRET,
} from '../src/index.ts';

describe('misuse', () => {
  const silent = { warn: () => undefined, error: () => undefined };
  const secret = TEST_SECRET;
  const receiver = () => createReceiver({ secret, logger: silent });
  const hook = () => createNodeHandler({ secret, logger: silent });
  const fix = (message: string | RegExp) =>
    expect.objectContaining({
      code: 'invalid-options',
      message: expect.stringMatching(message) as unknown as string,
    });

  describe('a wrong target', () => {
    it.each<[string, unknown, string | RegExp]>([
      ['nothing', undefined, 'the target is undefined. Pass an app'],
      ['null', null, 'the target is null. Pass an app'],
      ['a number', 3000, 'the target is a number. Pass an app'],
      ['a URL', 'http://localhost:3000/hook', 'send what signedRequest\\(\\) returns'],
      ['a URL object', new URL('http://localhost:3000/hook'), 'no port is opened'],
      ['a promise of an app', Promise.resolve(express()), 'the target is a promise: await it'],
      ['options', { secret, on: {} }, 'cannot take requests \\(Object\\). Pass an app'],
      [
        'a function of nothing',
        () => undefined,
        "returned undefined instead of a Response.*as: 'node'",
      ],
    ])('%s', async (_name, target, message) => {
      await expect(deliver(target as Target, callCompleted())).rejects.toEqual(fix(message));
    });

    it('a function that is taken for another kind', async () => {
      const two = async (_request: Request, _context: unknown) => Response.json({});
      await expect(deliver(two, callCompleted())).rejects.toEqual(fix("Pass { as: 'fetch' }"));
      expect(await deliver(two, callCompleted(), { as: 'fetch' })).toEqual({
        status: 200,
        body: '{}',
      });
      await expect(deliver(hook(), callCompleted(), { as: 'fetch' })).rejects.toEqual(
        fix('createWebHandler'),
      );
      const web = createWebHandler({ secret });
      await expect(deliver(web, callCompleted(), { as: 'node' })).rejects.toEqual(
        fix('createNodeHandler'),
      );
    });

    it('a function that fails: the connection that it left open is closed', async () => {
      const closed = new Promise((resolve) => {
        const broken = (request: IncomingMessage, response: ServerResponse) => {
          response.on('close', resolve);
          return Promise.reject(new Error(`broken at ${String(request.url)}`));
        };
        void deliver(broken, callCompleted()).catch(() => undefined);
      });
      await expect(closed).resolves.toBeUndefined();
    });

    it('a path at which nothing is mounted', async () => {
      const app = express().post('/webhooks', hook());
      const event = callCompleted();
      const message = "nothing is mounted at POST /hook.*{ path: '/…' }";
      await expect(deliver(app, event)).rejects.toEqual(fix(message));
      await expect(forged(app, event)).rejects.toEqual(fix(`forged: ${message}`));
      await expect(deliver(app, event, { path: 'webhooks' })).rejects.toEqual(fix("'/webhooks'"));
      expect((await deliver(app, event, { path: '/webhooks' })).status).toBe(200);
    });

    it('a receiver with another secret', async () => {
      const other = createReceiver({ secret: generateSecret(), logger: silent });
      const message = 'another secret. Pass it as { secret }';
      await expect(deliver(other, callCompleted())).rejects.toEqual(fix(message));
      await expect(deliverTwice(other, callCompleted())).rejects.toEqual(fix(message));
      // Asked for, it is what is tested.
      expect((await deliver(other, callCompleted(), { secret })).status).toBe(401);
    });

    it('a listener that throws', async () => {
      const failing = (_request: unknown, _response: unknown) => {
        throw new Error('of the app');
      };
      await expect(deliver(failing, callCompleted())).rejects.toThrow('of the app');
    });
  });

  describe('a wrong event', () => {
    it.each<[string, unknown, string]>([
      ['none', undefined, 'the event is undefined. Pass one such as callCompleted\\(\\)'],
      ['a factory', callCompleted, 'the event is a function. Pass one such as'],
      ['a promise', Promise.resolve({}), 'the event is a promise: await it'],
      ['what is not JSON', { callId: 1n }, 'the event cannot be written as JSON'],
    ])('%s', async (_name, event, message) => {
      await expect(deliver(receiver(), event as object)).rejects.toEqual(
        fix(`deliver: ${message}`),
      );
      await expect(signedRequest(event as object)).rejects.toEqual(
        fix(`signedRequest: ${message}`),
      );
    });

    it('a secret in place of the options', async () => {
      const options = secret as unknown as object;
      await expect(deliver(receiver(), callCompleted(), options)).rejects.toEqual(
        fix('the options are a string. Pass an object such as { secret }'),
      );
    });
  });

  it('a clock takes dates and milliseconds', () => {
    expect(() => createTestClock(new Date('x'))).toThrow('not a valid date');
    expect(() => {
      createTestClock().advance(-1);
    }).toThrow('0 or more, not -1');
  });
});

describe('events', () => {
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

  it('refuses names that no receiver would take', () => {
    for (const create of [callStarted, callCompleted])
      for (const calledName of ['', '__proto__', 'callId', 'userId'])
        expect(() => create({}, { fieldNames: { calledName } })).toThrow(
          expect.objectContaining({
            code: 'invalid-options',
            message: expect.stringContaining(`of ${create.name}: fieldNames.calledName: expected`),
          }),
        );
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
      expect(details.dialedAt?.getTime()).toBe(
        'dialedAt' in fieldNames ? undefined : 1767323045678,
      );
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
});
