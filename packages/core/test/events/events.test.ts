import { describe, expect, it } from '@jest/globals';
import { anyCharacter, collectingLogger } from '@call-webhooks/store-tests/internal';
import fc from 'fast-check';
import { z } from 'zod';
import { originsOf } from '../../src/errors.ts';
import { isRecord, parsePayload, typedEvent } from '../../src/events/events.ts';
import {
  type CallCompletedEvent,
  callDetails,
  type CallRecordingAvailableEvent,
  type CallStartedEvent,
  createReceiver,
  defineHandlers,
  eventKey,
  type HandlerContext,
  type Handlers,
  type WebhookError,
} from '../../src/index.ts';
import { DEFAULT_FIELD_NAMES } from '../../src/internal.ts';
import { bytes, delivery, NOW, RECORDING, runs, SECRET, SEED, STARTED } from '../support.ts';

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

const deep = (levels: number) => bytes('['.repeat(levels) + ']'.repeat(levels));

describe('parsePayload', () => {
  it('keeps the error of the parser from log lines, since it quotes the body', () => {
    let error: unknown;
    try {
      parsePayload(bytes('planted'));
    } catch (thrown) {
      error = thrown;
    }
    expect(originsOf(error as WebhookError)).toMatchObject([
      { source: 'schema', isWithheld: true },
    ]);
  });

  it('parses every JSON value', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: anyCharacter }), (value) => {
        const text = JSON.stringify(value);
        expect(parsePayload(bytes(text))).toEqual(JSON.parse(text));
      }),
      { seed: SEED },
    );
  });

  it.each<[string, Uint8Array, string]>([
    ['nothing', new Uint8Array(), 'not valid JSON'],
    ['text', bytes('planted words'), 'not valid JSON'],
    ['half a body', bytes('{"a":'), 'not valid JSON'],
    ['two values', bytes('{}{}'), 'not valid JSON'],
    ['a BOM', Uint8Array.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]), 'not valid JSON'],
    ['bytes that are not UTF-8', Uint8Array.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
    ['an overlong encoding', Uint8Array.from([0x22, 0xc0, 0xaf, 0x22]), 'not valid UTF-8'],
    ['a surrogate in UTF-8', Uint8Array.from([0x22, 0xed, 0xa0, 0x80, 0x22]), 'not valid UTF-8'],
    ['UTF-16', Uint8Array.from(Buffer.from('{}', 'utf16le')), 'not valid JSON'],
    ['65 levels', deep(65), 'nested more than 64 levels'],
    [
      '66 levels of objects and lists in turn',
      bytes('{"a":['.repeat(33) + ']}'.repeat(33)),
      'nested more than 64 levels',
    ],
    ['10,000 levels', deep(10_000), 'nested more than 64 levels'],
  ])('refuses %s without quoting it', (_name, body, message) => {
    expect(() => parsePayload(body)).toThrow(expect.objectContaining({ code: 'invalid-payload' }));
    expect(() => parsePayload(body)).toThrow(message);
    expect(() => parsePayload(body)).not.toThrow('planted');
  });

  it('accepts 64 levels', () => {
    expect(() => parsePayload(deep(64))).not.toThrow();
  });

  it.each<[string, unknown]>([
    ['lists side by side', Array(100).fill([])],
    ['objects and nulls side by side', [...Array<object>(100).fill({}), null]],
    ['brackets in a text', '[{'.repeat(100)],
  ])('accepts any number of %s', (_name, payload) => {
    expect(parsePayload(bytes(JSON.stringify(payload)))).toEqual(payload);
  });

  it('keeps __proto__ as an own property, and the last of two equal keys', () => {
    const parsed = parsePayload(bytes('{"__proto__":{"admin":true},"a":1,"a":2}')) as Record<
      string,
      unknown
    >;
    expect(Object.getPrototypeOf(parsed)).toBe(Object.prototype);
    expect(parsed['admin']).toBeUndefined();
    expect(Object.hasOwn(parsed, '__proto__')).toBe(true);
    expect(parsed['a']).toBe(2);
  });
});

describe('isRecord', () => {
  it.each([['a text'], [7], [true], [null], [[{}]]])('is not true of %j', (value) => {
    expect(isRecord(value)).toBe(false);
  });

  it('is true of an object, even without fields', () => {
    expect(isRecord({})).toBe(true);
  });
});

const EVENT = {
  userId: 'user-1',
  createdAt: '2026-04-01T10:00:00.000Z',
  toPhoneNumber: '+15550100',
  recipientEmail: 'a@example.test',
  recipientName: 'A B',
  startedAt: 1_760_000_000_000,
  endedAt: '2026-04-01T10:05:00Z',
};

describe('callDetails', () => {
  it('returns the seven fields by meaning', () => {
    expect(callDetails(EVENT)).toEqual({
      placedBy: 'user-1',
      createdAt: new Date('2026-04-01T10:00:00.000Z'),
      calledNumber: '+15550100',
      calledEmail: 'a@example.test',
      calledName: 'A B',
      dialedAt: new Date(1_760_000_000_000),
      endedAt: new Date('2026-04-01T10:05:00Z'),
    });
  });

  it('reads the configured names', () => {
    const names = { calledNumber: 'dialed', placedBy: undefined };
    const details = callDetails({ ...EVENT, dialed: '+15550199', undefined: 'other' }, names);
    expect(details.calledNumber).toBe('+15550199');
    expect(details.calledName).toBe('A B');
    expect(details.placedBy).toBeUndefined();
  });

  it('takes nothing from the prototype', () => {
    expect(callDetails({}, { placedBy: 'constructor', calledName: 'toString' })).toEqual(
      callDetails({}),
    );
    expect(callDetails(Object.create(EVENT) as object)).toEqual(callDetails({}));
  });

  it('never throws, and never returns an odd value', () => {
    const odd = fc.dictionary(
      fc.constantFrom(...Object.values(DEFAULT_FIELD_NAMES)),
      fc.anything(),
    );
    fc.assert(
      fc.property(odd, (event) => {
        const details = callDetails(event);
        for (const name of ['placedBy', 'calledNumber', 'calledEmail', 'calledName'] as const)
          if (details[name] !== undefined) expect(details[name]).toMatch(/[^]/);
        for (const name of ['createdAt', 'dialedAt', 'endedAt'] as const)
          if (details[name] !== undefined) expect(details[name].getTime()).not.toBeNaN();
      }),
      { seed: SEED },
    );
  });

  it.each([
    ['yesterday'],
    [''],
    [{}],
    [NaN],
    [1e20],
    ['2026-99-99'],
    ['12'],
    ['on 2026-04-01'],
    [['2026-04-01']],
  ])('takes %j for no time', (createdAt) => {
    expect(callDetails({ createdAt }).createdAt).toBeUndefined();
  });
});

/* eslint-disable @typescript-eslint/no-unused-vars, @typescript-eslint/no-unnecessary-type-parameters,
   @typescript-eslint/no-unsafe-return --
   the types of the parameters are what is tested here, also of those that do not exist */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
/** Compiles only for types that are the same; the type check of the tests is what runs these. */
const same = <A, B>(proof: Same<A, B>) => {
  expect(proof).toBe(true);
};
const voicemail = z.object({ eventName: z.literal('call:voicemail'), seconds: z.number() });

describe('the fields of events', () => {
  it('are those of the spec, and a misspelt one does not compile', () => {
    createReceiver({
      secret: SECRET,
      on: {
        'call:started': (event) => {
          // @ts-expect-error it is called callId
          if (event.calId) return undefined;
          // @ts-expect-error only the context has fields that the type does not name
          return event['crmId'];
        },
        // @ts-expect-error it is called callId
        'call:completed': (event) => event.callID,
        // @ts-expect-error it is called recordingUrl
        'call:recording-available': ({ recordingURL }) => recordingURL,
      },
    });
    same<keyof CallStartedEvent, 'eventName' | 'callId' | 'fromPhoneNumber'>(true);
    same<keyof CallCompletedEvent, 'eventName' | 'callId' | 'fromPhoneNumber'>(true);
    same<
      keyof CallRecordingAvailableEvent,
      | ('eventName' | 'eventId' | 'callId' | 'userId' | 'workspaceId' | 'recordingStartedAt')
      | ('recordingDurationSeconds' | 'occurredAt' | 'recordingUrl')
    >(true);
  });

  it('let an event be passed as a record', () => {
    const keep = (record: Record<string, unknown>) => record;
    createReceiver({ secret: SECRET, on: { 'call:started': keep } });
    const events: CallStartedEvent[] = [{ eventName: 'call:started' }];
    expect(events.map(keep)).toEqual(events);
  });

  it('are all in context.payload, as they were sent', async () => {
    const payloads: unknown[] = [];
    const receiver = createReceiver({
      secret: SECRET,
      now: () => NOW,
      logger: collectingLogger(),
      on: {
        'call:completed': (event, { payload }) => {
          same<typeof payload, Readonly<Record<string, unknown>>>(true);
          payloads.push(payload['crmId'], payload['callId'], event.callId);
        },
      },
      custom: { handle: (_payload, { payload }) => void payloads.push(payload) },
    });
    const send = async (payload: unknown) =>
      (await receiver.receive(await delivery(payload))).outcome.outcome;
    expect(await send({ eventName: 'call:completed', callId: 7, crmId: 'crm-1' })).toBe('handled');
    expect(await send(['no object'])).toBe('handled');
    expect(await send(null)).toBe('handled');
    expect(payloads).toEqual(['crm-1', 7, undefined, {}, {}]);
  });
});

describe('handlers in a file of their own', () => {
  it('have the types of their events', () => {
    const handlers = defineHandlers({
      'call:started': (event, context) => {
        same<typeof event, CallStartedEvent>(true);
        same<typeof context, HandlerContext>(true);
        // @ts-expect-error it is called callId
        return event.calId;
      },
      'call:completed': async (_event, { completeIn }) => completeIn({}),
    });
    const satisfying = {
      'call:completed': (event, context) => {
        same<typeof event, CallCompletedEvent>(true);
        same<typeof context, HandlerContext>(true);
      },
    } satisfies Handlers;
    createReceiver({ secret: SECRET, on: handlers });
    createReceiver({ secret: SECRET, on: satisfying });
  });

  it('refuse a misspelt event name', () => {
    // @ts-expect-error there is no such event
    defineHandlers({ 'call:strated': () => undefined });
    // @ts-expect-error there is no such event
    const on = { 'call:strated': () => undefined } satisfies Handlers;
    defineHandlers(
      // @ts-expect-error there is no such event, not even with extra ones
      { 'call:voicemial': () => undefined },
      { events: { 'call:voicemail': voicemail } },
    );
  });

  it('know extra events by their schemas', () => {
    const events = { 'call:voicemail': voicemail };
    const on = defineHandlers(
      {
        'call:voicemail': (event) => same<typeof event, z.output<typeof voicemail>>(true),
        'call:started': (event) => same<typeof event, CallStartedEvent>(true),
      },
      { events },
    );
    createReceiver({ secret: SECRET, events, on });
    expect(() => createReceiver({ secret: SECRET, on })).toThrow('call:voicemail');
  });
});
