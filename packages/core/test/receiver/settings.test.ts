import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { createReceiver, type ReceiverOptions } from '../../src/index.ts';
import { byteSize, resolveSettings } from '../../src/options.ts';
import { SECRET, createWorkerHandler } from '../support.ts';

const make = (options: unknown) => () => createReceiver({ secret: SECRET, ...(options as object) });
const schema = z.looseObject({});
const fieldNamed = (endedAt: string) => ({ fieldNames: { endedAt } });

describe('the options of a receiver', () => {
  it('have the documented defaults', () => {
    expect(resolveSettings({ secret: SECRET })).toMatchObject({
      toleranceSeconds: 300,
      ackWithin: 20_000,
      bodyLimit: 1024 * 1024,
      bodyTimeout: 5_000,
      maxAttempts: 3,
      maxInFlight: 1_000,
      leaseFor: 60_000,
      storeTimeout: 1_000,
      fieldNames: {},
      logger: console,
      headerNames: { id: 'x-service-webhook-id' },
    });
  });

  it.each<[string, unknown]>([
    ['toleranceSeconds', { toleranceSeconds: 0 }],
    ['toleranceSeconds', { toleranceSeconds: 1.5 }],
    ['toleranceSeconds', { toleranceSeconds: '300' }],
    ['ackWithin', { ackWithin: 0 }],
    ['ackWithin', { ackWithin: 30_000 }],
    ['bodyLimit', { bodyLimit: 'large' }],
    ['bodyLimit', { bodyLimit: 0 }],
    ['bodyLimit', { bodyLimit: Infinity }],
    ['bodyLimit', { bodyLimit: '-1mb' }],
    ['bodyTimeout', { bodyTimeout: NaN }],
    ['maxAttempts', { maxAttempts: 0 }],
    ['maxInFlight', { maxInFlight: 0 }],
    ['leaseFor', { leaseFor: 240_001 }],
    ['storeTimeout', { storeTimeout: 60_000 }],
    ['fieldNames', { fieldNames: { calledNumbr: 'x' } }],
    ['headerPrefix', { headerPrefix: 'X Service' }],
    ['headerPrefix', { headerPrefix: { id: 'a' } }],
    ['store', { store: {} }],
    ['store', { store: { admit() {} } }],
    ['queue', { queue: { push() {} } }],
    ['logger', { logger: { warn() {} } }],
    ['onOutcome', { onOutcome: 'log' }],
    ['deadLetter', { deadLetter: true }],
    ['custom', { custom: { schema } }],
    ['custom', { custom: { schema: {}, handle() {} } }],
    ['events', { events: { 'call:voicemail': {} } }],
    ['events', { events: { 'call:voicemail': null } }],
    ['events', { events: { 'call:voicemail': 7 } }],
    ['call:started', { events: { 'call:started': schema } }],
    ['call:started', { on: { 'call:started': 'handler' } }],
    ['call:strated', { on: { 'call:strated': () => undefined } }],
    ['now', { now: 5 }],
    ['tolerance', { tolerance: 300 }],
  ])('refuse a wrong %s: %j', (name, options) => {
    expect(make(options)).toThrow(expect.objectContaining({ code: 'invalid-options' }));
    expect(make(options)).toThrow(name);
  });

  it.each<[string, unknown]>([
    ['deadLetter: expected a function or a dead-letter store', { deadLetter: true }],
    ["bodyLimit: expected a number of bytes or a string such as '1mb'", { bodyLimit: 'large' }],
    ["redact: expected 'standard', 'off' or a function", { redact: 'loud' }],
    ['oneAtATime: expected true or a function', { oneAtATime: 'yes' }],
    ['onUnhandled: expected a function that is not a generator', { onUnhandled: function* () {} }],
    ['around: expected a function or a list of functions', { around: 'all' }],
    ["headerPrefix: expected a prefix such as 'X-Service', or {", { headerPrefix: { id: 'a' } }],
    ['no effect on queue workers', { oneAtATime: true, queue: { enqueue() {} } }],
    ['no effect with queue', { maxAttempts: 5, queue: { enqueue() {} } }],
    ['there is no option "maxRuns"', { maxRuns: 5 }],
    ['secret: since tenant is set, expected a function', { tenant: () => 'a' }],
    ['maxInFlightPerTenant: it has no effect without tenant', { maxInFlightPerTenant: 1 }],
    ['fieldNames.placedBy: expected a string', { fieldNames: { placedBy: 7 } }],
    ['fieldNames: expected an object', { fieldNames: 'owner' }],
    ...['', ' dialed', 'dialed\t', 'dia\u200bled', 'dia\nled', 'x'.repeat(201)].map(
      (dialedAt): [string, unknown] => [
        'fieldNames.dialedAt: expected the name of a field as it is in the body, 1 to 200 visible characters without spaces at the ends, or undefined if there is no such field.',
        { fieldNames: { dialedAt } },
      ],
    ),
    ['fieldNames.endedAt: expected another name than "__proto__"', fieldNamed('__proto__')],
    ...['eventName', 'callId', 'fromPhoneNumber'].map((name): [string, unknown] => [
      `fieldNames.endedAt: expected the name of another field than "${name}", which is documented`,
      fieldNamed(name),
    ]),
    [
      'fieldNames.endedAt: expected another name than placedBy has, or undefined',
      { fieldNames: { endedAt: 'x', placedBy: 'x' } },
    ],
    [
      'fieldNames.endedAt: expected another name than "userId", which is the default name of placedBy, unless placedBy is set as well',
      fieldNamed('userId'),
    ],
  ])('say what is expected: %s', (message, options) => {
    expect(make(options)).toThrow(
      expect.objectContaining({
        code: 'invalid-options',
        message: expect.stringContaining(message),
      }),
    );
  });

  it.each<[unknown]>([
    [{ around: () => undefined }],
    [{ around: [() => undefined] }],
    [{ redact: 'standard' }],
    [{ redact: 'off' }],
    [{ redact: (text: string) => text }],
    [{ headerPrefix: { id: 'a', timestamp: 'b', signature: 'c' } }],
    [{ fieldNames: { calledName: 'recipientEmail', calledEmail: 'recipientName' } }],
    [{ fieldNames: { dialedAt: 'createdAt', createdAt: undefined, endedAt: 'Ende des Anrufs' } }],
    [fieldNamed('x'.repeat(200))],
    [fieldNamed('constructor')],
    [{ events: { 'call:voicemail': Object.assign(() => undefined, { '~standard': {} }) } }],
  ])('may be %j', (options) => {
    expect(make(options)).not.toThrow();
  });

  it('say once that two fields have one name', () => {
    const both = { calledEmail: 'person', calledName: 'person' };
    expect(make({ fieldNames: both })).toThrow(
      /^Invalid options: fieldNames\.calledName: expected another name than calledEmail has, or [^;]*$/,
    );
  });

  it('report every invalid option at once, and list the known events', () => {
    expect(make({ maxAttempts: 0, maxInFlight: 0 })).toThrow(/maxAttempts.*maxInFlight/);
    expect(make({ on: { x: () => undefined } })).toThrow(
      'call:started, call:completed, call:recording-available',
    );
  });

  it.each<[unknown, string]>([
    [undefined, 'environment variable'],
    ['', 'environment variable'],
    ['whsec_', 'nothing after'],
    ['whsec_AAAA', 'too short'],
    [[], 'empty'],
    [[SECRET, ''], 'environment variable'],
    [{ id: 'a' }, 'undefined'],
  ])('refuse the secret %j', (secret, message) => {
    const options = { secret } as ReceiverOptions;
    expect(() => createReceiver(options)).toThrow(
      expect.objectContaining({ code: 'invalid-secret' }),
    );
    expect(() => createReceiver(options)).toThrow(message);
  });

  it('never show the secret in an error', () => {
    const secret = SECRET.replace('whsec_', 'wshec_');
    expect(() => createReceiver({ secret })).not.toThrow(SECRET.slice(8, 20));
  });

  it('are required', () => {
    expect(() => createReceiver(undefined as never)).toThrow(
      expect.objectContaining({ code: 'invalid-options' }),
    );
  });

  it('treat undefined as the default, and accept handlers for extra events', () => {
    expect(
      make({
        maxAttempts: undefined,
        on: { 'call:started': undefined, 'call:completed': () => undefined },
      }),
    ).not.toThrow();
    expect(
      make({ events: { 'call:voicemail': schema }, on: { 'call:voicemail': () => undefined } }),
    ).not.toThrow();
  });

  it('are checked for workers as well', () => {
    const invalid = expect.objectContaining({ code: 'invalid-options' });
    expect(() => createWorkerHandler({ on: { 'call:strated': () => undefined } })).toThrow(invalid);
    expect(() => createWorkerHandler({ maxRuns: 0 })).toThrow(invalid);
    expect(() => createWorkerHandler({ maxAttempts: 5 } as never)).toThrow(invalid);
    expect(() => createWorkerHandler({ secret: SECRET } as never)).toThrow(invalid);
    expect(() => createWorkerHandler(fieldNamed(''))).toThrow(invalid);
  });
});

describe('byteSize', () => {
  it.each<[unknown, number | undefined]>([
    [1, 1],
    ['1.25kb', 1_280],
    ['1mbit', undefined],
    [['1mb'], undefined],
    ['512kb', 524_288],
    ['1 MB', 1_048_576],
    ['1.5kb', 1_536],
    ['10b', 10],
    ['0mb', undefined],
    ['1tb', undefined],
    ['mb', undefined],
    ['1', undefined],
    [1.5, undefined],
    [-1, undefined],
  ])('of %j is %p', (size, expected) => {
    expect(byteSize(size)).toBe(expected);
  });
});
