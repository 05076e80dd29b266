import { describe, expect, it, jest } from '@jest/globals';
import { z } from 'zod';
import { createReceiver, type HandlerContext, type ReceiverOptions } from '../../src/index.ts';
import { createReceiverOnFirstUse, withoutOptions } from '../../src/internal.ts';
import { toBase64 } from '../../src/platform/node.ts';
import { createJobProcessor } from '../../src/stores.ts';
import {
  bytes,
  createTestReceiver,
  createWorkerHandler,
  delivery,
  Lines,
  NOW,
  SECONDS,
  SECRET,
  STARTED,
} from '../support.ts';

type Options = Partial<ReceiverOptions<never, never>>;
const VOICEMAIL = { eventName: 'crm:voicemail', seconds: 3 };
const events = { 'crm:voicemail': z.object({ eventName: z.string(), seconds: z.number() }) };

class Handlers {
  readonly seen: unknown[] = [];
  'call:started'(event: { callId?: string | undefined }) {
    this.seen.push(event.callId);
  }
}
class Inheriting extends Handlers {}
class WithGetter {
  readonly seen: unknown[] = [];
  get 'call:started'() {
    return (event: { callId?: string | undefined }) => void this.seen.push(event.callId);
  }
}
class WithPrivateState {
  readonly #seen: unknown[] = [];
  readonly database = { url: 'postgres://…' };
  get seen() {
    return this.#seen;
  }
  async 'call:started'(event: { callId?: string | undefined }) {
    await Promise.resolve();
    this.#seen.push(event.callId);
  }
  helper() {
    return this.#seen;
  }
}

const proxied = () => {
  const target = new Handlers();
  return new Proxy(target, { ownKeys: () => [] });
};

const WAYS: [string, () => { seen: unknown[] }][] = [
  ['methods of a class', () => new Handlers()],
  ['inherited methods', () => new Inheriting()],
  ['a prototype', () => Object.create(new Handlers()) as Handlers],
  ['getters', () => new WithGetter()],
  ['methods of a class with private state', () => new WithPrivateState()],
  ['a proxy without property names', proxied],
  [
    'properties that are not enumerable',
    () => {
      const seen: unknown[] = [];
      return Object.defineProperties({} as { seen: unknown[] }, {
        seen: { value: seen },
        'call:started': { value: (event: { callId: string }) => seen.push(event.callId) },
      });
    },
  ],
];

describe.each(WAYS)('handlers that are %s', (_way, create) => {
  it('are found by a receiver', async () => {
    const on = create();
    const { send } = createTestReceiver({ on });
    expect(await send(STARTED)).toBe('handled');
    expect(on.seen).toEqual(['call-1']);
  });

  it('are found by a worker', async () => {
    const on = create();
    const body = toBase64(bytes(JSON.stringify(STARTED)));
    const job = { webhookId: 'w-1', timestamp: SECONDS, receivedAt: NOW, body };
    await createWorkerHandler({ on, logger: new Lines() })(job);
    expect(on.seen).toEqual(['call-1']);
  });
});

describe('handlers that nobody can find', () => {
  it.each<[string, unknown, string]>([
    ['a Map', new Map([['call:started', () => undefined]]), 'Object.fromEntries(map)'],
    ['an empty object', {}, 'so every event would be ignored'],
    ['undefined handlers', { 'call:started': undefined }, 'so every event would be ignored'],
    ['a list', [() => undefined], 'there is no event "0"'],
    ['an instance without events', new Date(), 'looked for the properties call:started'],
    [
      'methods of other names',
      new (class Other {
        onStarted() {}
      })(),
      'so every event would be ignored',
    ],
    [
      'a misspelt method',
      new (class Misspelt {
        'call:started'() {}
        'call:complete'() {}
      })(),
      'there is no event "call:complete"',
    ],
    [
      'a misspelt field of a class',
      new (class Fields {
        'call:started' = () => undefined;
        started = () => undefined;
      })(),
      'there is no event "started"',
    ],
    [
      'a misspelt name',
      { 'call:started': () => undefined, 'call:complete': undefined },
      'there is no event "call:complete"',
    ],
    ['no functions', { 'call:started': 'save' }, 'on.call:started: expected a function'],
    ['null', { 'call:started': null }, 'on.call:started: expected a function'],
    [
      'a generator',
      { *'call:started'() {} },
      'on.call:started: expected a function that is not a generator',
    ],
    [
      'an async generator',
      { async *'call:started'() {} },
      'on.call:started: expected a function that',
    ],
    ['a function', () => undefined, 'on: expected an object'],
  ])('are refused at start-up: %s', (_what, on, message) => {
    const options = { on } as { on: object };
    expect(() => createTestReceiver(options)).toThrow(message);
    expect(() => createJobProcessor(options)).toThrow(message);
    expect(() => createTestReceiver({ ...options, onUnhandled: () => 1 })).toThrow(
      expect.objectContaining({ code: 'invalid-options' }),
    );
  });
});

describe('schemas', () => {
  class Schemas {
    get 'crm:voicemail'() {
      return events['crm:voicemail'];
    }
    describe() {
      return 'of the CRM';
    }
  }

  it.each([
    ['an object', events],
    ['a class with getters', new Schemas()],
    ['a prototype', Object.create(events) as typeof events],
  ])('are found in %s', async (_what, schemas) => {
    const handle = jest.fn();
    const on = { 'crm:voicemail': handle };
    const { send } = createTestReceiver({ on, events: schemas as never });
    expect(await send(VOICEMAIL)).toBe('handled');
    expect(await send({ ...VOICEMAIL, seconds: 'three' })).toBe('invalid-payload');
    expect(handle).toHaveBeenCalledTimes(1);
  });

  it.each<[string, unknown, string]>([
    ['a Map', new Map(Object.entries(events)), 'events: it contains no schema'],
    ['no schemas', { 'crm:voicemail': {} }, 'events.crm:voicemail: expected a schema'],
    ['an event of the service', { 'call:started': z.object({}) }, 'already an event of the'],
  ])('are refused at start-up: %s', (_what, schemas, message) => {
    expect(() => createTestReceiver({ events: schemas } as Options)).toThrow(message);
  });
});

/** As an app has it that makes its settings a class. */
class Settings {
  readonly seen: unknown[] = [];
  readonly lines = new Lines();
  get secret() {
    return SECRET;
  }
  get on() {
    return { 'call:started': (_event: unknown, { key }: HandlerContext) => this.seen.push(key) };
  }
  get logger() {
    return this.lines;
  }
  now() {
    return this.seen.length === 0 ? NOW : NOW + 1;
  }
  onOutcome({ outcome }: { outcome: string }) {
    this.seen.push(outcome);
  }
}
class Custom {
  readonly seen: unknown[] = [];
  key({ id }: { id: string }) {
    return `${this.prefix()}${id}`;
  }
  handle(payload: unknown) {
    this.seen.push(payload);
  }
  prefix() {
    return 'crm-';
  }
}

describe('options that are an instance of a class', () => {
  // Fields that are no options are refused, so its state is not enumerable here.
  const settingsOf = () => {
    const settings = new Settings();
    for (const name of ['seen', 'lines'] as const)
      Object.defineProperty(settings, name, { enumerable: false });
    return settings;
  };

  it.each([
    ['createReceiver', (settings: Settings) => createReceiver(settings)],
    ['an adapter', (settings: Settings) => createReceiver(withoutOptions(settings))],
    ['a host that creates it later', (settings: Settings) => createReceiverOnFirstUse(settings)()],
  ])('are all read by %s, and their methods keep this', async (_who, create) => {
    const settings = settingsOf();
    const { receive } = create(settings);
    expect((await receive(await delivery(STARTED))).outcome.outcome).toBe('handled');
    expect(settings.seen).toEqual(['call-1:call:started', 'handled']);
  });

  it('still name a misspelt option', () => {
    const misspelt = Object.assign(settingsOf(), { onOutcomes: () => undefined });
    const refusal = 'there is no option "onOutcomes"';
    expect(() => createReceiver(misspelt)).toThrow(refusal);
    expect(() => createReceiver(withoutOptions(misspelt))).toThrow(refusal);
  });

  it('may have a custom payload that is one', async () => {
    const custom = new Custom();
    Object.defineProperty(custom, 'seen', { enumerable: false });
    const { send, outcomes } = createTestReceiver({ custom });
    expect(await send({ id: '7' })).toBe('handled');
    expect(outcomes).toMatchObject([{ key: 'custom:crm-7' }]);
    expect(custom.seen).toEqual([{ id: '7' }]);
  });
});
