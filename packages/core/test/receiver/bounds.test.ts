import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { eventKey, memoryDeadLetters, memoryStore } from '../../src/index.ts';
import { valuesOf } from '../../src/report/delivered.ts';
import { contentOf } from '../redact/payload.ts';
import { createTestReceiver, delivery } from '../support.ts';

const MEGABYTE = 1_000_000;
afterEach(() => {
  jest.restoreAllMocks();
});

describe('an id that is too long to be a key', () => {
  it.each([
    ['colons', ':'],
    ['percent signs', '%'],
    ['letters', 'x'],
  ])('of %s costs no more than a short one', async (_what, sign) => {
    const long = sign.repeat(MEGABYTE);
    const encode = jest.spyOn(globalThis, 'encodeURIComponent');
    for (const fields of [
      { eventName: 'call:started', callId: long },
      { eventName: 'call:recording-available', callId: 'c1', eventId: long },
      { eventName: 'call:new', eventId: long },
      { eventName: long, eventId: 'e1' },
    ]) {
      expect(eventKey(fields)).toBeUndefined();
      const { send } = createTestReceiver({ onUnhandled: () => undefined, bodyLimit: '4mb' });
      expect(['handled', 'ignored']).toContain(await send(fields));
    }
    expect(encode).not.toHaveBeenCalled();
  });

  it('is one whose key would be too long once it is written', () => {
    expect(eventKey({ eventName: 'call:started', callId: ':'.repeat(1_400) })).toBeUndefined();
    expect(eventKey({ eventName: 'call:started', callId: ':'.repeat(1_300) })).toHaveLength(3_913);
  });
});

describe('a delivery of 1 MB that fails', () => {
  const values = (value: (at: number) => unknown) => {
    const all: unknown[] = [];
    for (let length = 0; length < MEGABYTE; length += JSON.stringify(all.at(-1)).length + 1)
      all.push(value(all.length));
    return all;
  };
  const keys = (key: (at: number) => string) =>
    Object.fromEntries(values(key).map((name) => [name as string, 1]));
  const SHAPES: [string, () => unknown][] = [
    ['one text', () => values((at) => `line ${String(at)}`).join('\n')],
    ['one letter', () => 'x'.repeat(MEGABYTE)],
    ['lines', () => values((at) => `line ${String(at)} of the note`)],
    ['short lines', () => values((at) => `a${String(at)}`)],
    ['long lines', () => values((at) => `word ${String(at)} `.repeat(300))],
    ['sentences', () => values((at) => `The customer called ${String(at)} times, and asked.`)],
    ['quotes in sentences', () => values((at) => `The "customer" called ${String(at)} "times".`)],
    ['the same line', () => values(() => 'The customer asked us to call back. ')],
    ['numeric keys', () => keys((at) => String(at * 7_919))],
    ['names as keys', () => keys((at) => `Ada ${at.toString(36)} Lovelace`)],
    ['escapes', () => values((at) => `"${String(at)}"\n\n"x"`)],
    ['numbers', () => values((at) => 15_550_000_000 + at)],
    ['brackets', () => values(() => [])],
  ];

  // How long that takes, and the whole of a delivery, is measured by `npm run bench -- failing`.
  it.each(SHAPES)('of %s is searched for a bounded number of values', (_what, make) => {
    let pieces = 0;
    try {
      pieces = valuesOf(contentOf({ content: make() })).pieces?.size ?? 0;
    } catch (error) {
      expect(error).toBeInstanceOf(RangeError); // too much: what is said about it is withheld
    }
    expect(pieces).toBeLessThanOrEqual((2.5 * MEGABYTE) / 20);
  });

  it('hands a bounded amount of text to the function of redact', async () => {
    const content = 'x'.repeat(MEGABYTE - 1_000);
    let length = 0;
    const redact = (text: string) => {
      length += text.length;
      return text;
    };
    const fail = (event: object) => {
      const body = JSON.stringify(event);
      throw new AggregateError(
        Array.from({ length: 50 }, () => new Error(body)),
        body,
      );
    };
    const { receiver } = createTestReceiver({ redact, on: { 'call:completed': fail } });
    const event = { eventName: 'call:completed', callId: 'c1', content };
    const { status } = await receiver.receive(await delivery(event));
    expect(status).toBe(500);
    expect(length).toBeGreaterThan(MEGABYTE / 2);
    expect(length).toBeLessThan(1.5 * MEGABYTE);
  });
});

describe('a thousand deliveries, of as many events, calls and groups', () => {
  const PLACES = 20;
  /** What is counted and logged by name has a hundred names, each of them with a few outcomes. */
  const MOST = 600;

  it('leave behind no map and no set that has grown with them', async () => {
    const spies = [jest.spyOn(Map.prototype, 'set'), jest.spyOn(Set.prototype, 'add')];
    const { send, receiver } = createTestReceiver({
      store: memoryStore({ maxEntries: PLACES, onEvicted: () => undefined }),
      deadLetter: memoryDeadLetters({ maxLetters: PLACES }),
      maxAttempts: 1,
      oneAtATime: true,
      on: {
        'call:started': (event: { callId: string }) => {
          if (event.callId.endsWith('7')) throw new Error('mine');
        },
      },
      onUnhandled: () => undefined,
    });
    for (let at = 0; at < 1_000; at++) {
      const name = at % 2 ? 'call:started' : `call:new-${String(at)}`;
      await send({ eventName: name, callId: `c-${String(at)}` });
    }
    const touched = new Set(spies.flatMap(({ mock }) => mock.contexts as { size: number }[]));
    jest.restoreAllMocks();
    const largest = [...touched].map(({ size }) => size).sort((one, other) => other - one);
    expect(touched.size).toBeGreaterThan(10);
    expect(largest.filter((size) => size > MOST)).toEqual([]);
    await receiver.close();
  });
});
