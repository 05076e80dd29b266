import { describe, expect, it } from '@jest/globals';
import { createJobProcessor } from '../../src/stores.ts';
import { createReceiver } from '../../src/index.ts';
import { Lines, SECRET } from '../support.ts';

const handle = () => undefined;
const on = { 'call:started': handle, 'call:completed': handle };
const other = (eventName: string, callId: string, more: object = {}) => ({
  ...{ eventName, callId, who: 'u-7', toNumber: '+15550100' },
  ...more,
});

function setup(options: object = {}) {
  const logger = new Lines();
  const receiver = createReceiver({ secret: SECRET, logger, on, ...options });
  const unknown = async () => (await receiver.health()).unknownFields;
  return { logger, receiver, unknown };
}

describe('a call event whose details are under other names', () => {
  it('is handled, and told of once for each event name, with the names of its fields alone', async () => {
    const { logger, receiver, unknown } = setup();
    for (const id of ['c1', 'c2']) {
      expect(await receiver.deliver(other('call:started', id))).toMatchObject({
        outcome: 'handled',
      });
      await receiver.deliver(other('call:completed', id, { finishedAt: '2026-01-01T12:00:00Z' }));
    }
    expect(logger.entries).toMatchObject([
      { level: 'warn', fields: { eventName: 'call:started' } },
      {
        level: 'warn',
        fields: { eventName: 'call:completed', docs: expect.stringContaining('field-names') },
        message: expect.stringMatching(
          /fieldNames.*infer.*eventName, callId, who, toNumber, finishedAt/,
        ),
      },
    ]);
    expect(JSON.stringify(logger.entries)).not.toMatch(/u-7|15550100|2026-01/);
    const names = (await unknown())?.map(({ eventName }) => eventName);
    expect(names).toEqual(['call:started', 'call:completed']);
  });

  it('is told of once by two receivers with one logger', async () => {
    const { logger, receiver, unknown } = setup();
    const second = setup({ logger });
    await receiver.deliver(other('call:started', 'c1'));
    await second.receiver.deliver(other('call:started', 'c2'));
    expect(logger.entries).toHaveLength(1);
    expect(await second.unknown()).toEqual(await unknown());
  });

  it('lacks the end of the call, although other details are found', async () => {
    const { logger, receiver } = setup();
    await receiver.deliver(other('call:completed', 'c1', { userId: 'u-7' }));
    expect(logger.all).toEqual([
      expect.stringContaining('Missing: endedAt (default for endedAt).'),
    ]);
  });

  it('is not told of with the right fieldNames, or those that say there are none', async () => {
    for (const fieldNames of [
      { placedBy: 'who', endedAt: 'finishedAt' },
      { placedBy: 'who', endedAt: undefined },
    ]) {
      const { logger, receiver, unknown } = setup({ fieldNames });
      await receiver.deliver(other('call:started', 'c1'));
      await receiver.deliver(other('call:completed', 'c1', { finishedAt: '2026-01-01T12:00:00Z' }));
      expect(logger.entries).toEqual([]);
      expect(await unknown()).toBeUndefined();
    }
  });

  it('was an exception when a later one has them', async () => {
    const { receiver, unknown } = setup();
    await receiver.deliver(other('call:completed', 'c1'));
    expect(await unknown()).toHaveLength(1);
    await receiver.deliver(other('call:completed', 'c2', { endedAt: '2026-01-01T12:00:00Z' }));
    expect(await unknown()).toMatchObject([{ properties: ['placedBy'] }]);
    await receiver.deliver(other('call:completed', 'c3', { userId: 'u-7' }));
    expect(await unknown()).toBeUndefined();
  });

  it('has no personal data in the names that are logged', async () => {
    const { logger, receiver } = setup();
    const odd = { 'ada@lovelace.example': 1, ['x'.repeat(10_000)]: 1 };
    await receiver.deliver(other('call:completed', 'c1', odd));
    const text = JSON.stringify(logger.entries);
    expect(text).not.toContain('lovelace');
    expect(text.length).toBeLessThan(2_000);
  });

  it.each([
    'Zelda Quixotic',
    'Zelda',
    'zelda quixotic',
    'Zelda\u202eQuixotic',
    '李明',
    '+1 555 010 4477',
    '15550104477',
    '',
  ])('counts a key that may be the name of a person, and never shows it: %j', async (key) => {
    const { logger, receiver, unknown } = setup();
    await receiver.deliver(other('call:completed', 'c1', { [key]: 3, 'a b': 1 }));
    const fields = ['eventName', 'callId', 'who', 'toNumber'];
    expect(await unknown()).toMatchObject([{ eventName: 'call:completed', fields, others: 2 }]);
    expect(logger.all.join()).toContain('The body has: eventName, callId, who, toNumber, 2 more.');
    if (key !== '') expect(logger.all.join()).not.toContain(key);
  });

  it.each([
    [49, undefined],
    [50, undefined],
    [51, 1],
    [104, 54],
  ])('shows 50 names at most, and says how many more there are: of %d, %p', async (count, left) => {
    const { logger, receiver, unknown } = setup();
    const named = Object.keys(other('call:completed', 'c1')).length;
    const many = Object.fromEntries(
      Array.from({ length: count - named }, (_, at) => [`field${String(at)}`, 1]),
    );
    await receiver.deliver(other('call:completed', 'c1', many));
    const { fields, others } = (await unknown())![0]!;
    expect([fields.length, others]).toEqual([Math.min(count, 50), left]);
    const end = left === undefined ? '' : `, ${String(left)} more`;
    expect(logger.all[0]).toContain(`The body has: ${fields.join(', ')}${end}.`);
  });

  it('is told of by the worker of a queue', async () => {
    const logger = new Lines();
    const process = createJobProcessor({ on, logger });
    const body = Buffer.from(JSON.stringify(other('call:completed', 'c1'))).toString('base64');
    const queued = { webhookId: 'w1', timestamp: 1, receivedAt: 1, body };
    expect(await process(queued)).toEqual({ status: 'done' });
    expect(logger.entries).toMatchObject([{ fields: { eventName: 'call:completed' } }]);
  });
});

/** The names of a service that has none of the default ones, and an event of it. */
const NAMES = {
  ...{ placedBy: 'owner', createdAt: 'logged', calledNumber: 'phone', calledEmail: 'mail' },
  ...{ calledName: 'contact', dialedAt: 'dialed', endedAt: 'finished' },
};
const FITTING = {
  ...{ eventName: 'call:completed', callId: 'c1', owner: 'u-7', logged: 1_760_000_000_000 },
  ...{ phone: '+15550100', mail: 'ada@lovelace.example', contact: 'Ada Lovelace' },
  ...{ dialed: '2026-01-01T12:00:00Z', finished: '2026-01-01T12:01:00Z' },
};

describe('a field that does not fit its meaning', () => {
  it.each<[keyof typeof NAMES, unknown, string]>([
    ['placedBy', undefined, 'Missing'],
    ['placedBy', null, 'Empty'],
    ['placedBy', '', 'Empty'],
    ['placedBy', 4711, 'A number instead of a text'],
    ['createdAt', { ms: 1 }, 'An object instead of a time'],
    ['createdAt', 9e15, 'A number that is not a time in milliseconds'],
    ['createdAt', '1760000000000', 'A text that is not a time in ISO 8601'],
    ['calledNumber', { number: '+15550100' }, 'An object instead of a text'],
    ['calledEmail', ['ada@lovelace.example'], 'A list instead of a text'],
    ['calledName', false, 'A boolean instead of a text'],
    ['dialedAt', 'Ada Lovelace', 'A text that is not a time in ISO 8601'],
    ['endedAt', undefined, 'Missing'],
    ['endedAt', true, 'A boolean instead of a time'],
  ])('is named: %s, if it is %j', async (property, value, problem) => {
    const { logger, receiver, unknown } = setup({ fieldNames: NAMES });
    const field = NAMES[property];
    await receiver.deliver({ ...FITTING, [field]: value });
    expect(logger.all).toEqual([
      expect.stringMatching(
        new RegExp(
          `^warn call-webhooks: context\\.call of call:completed is incomplete\\. ${problem}: ${field} \\(set for ${property}\\)\\. Correct fieldNames, so that it has the names of your service\\. "npx`,
        ),
      ),
    ]);
    expect(logger.all.join()).not.toMatch(/guess|Lovelace|555|4711|ada@/);
    expect(await unknown()).toMatchObject([{ properties: [property] }]);
  });

  it.each(['createdAt', 'calledNumber', 'calledEmail', 'calledName', 'dialedAt'] as const)(
    'is not one that the service need not send: %s',
    async (property) => {
      for (const value of [undefined, null, '']) {
        const { logger, receiver, unknown } = setup({ fieldNames: NAMES });
        await receiver.deliver({ ...FITTING, [NAMES[property]]: value });
        expect([logger.all, await unknown()]).toEqual([[], undefined]);
      }
    },
  );

  it('has a name that was set, or a default one, and the line says which are guesses', async () => {
    const { logger, receiver, unknown } = setup({ fieldNames: { calledNumber: 'phone' } });
    const { finished: endedAt, owner: userId } = FITTING;
    await receiver.deliver({ ...FITTING, endedAt, userId, recipientEmail: 5, phone: 6 });
    expect(logger.all).toEqual([
      expect.stringContaining(
        'incomplete. A number instead of a text: phone (set for calledNumber), recipientEmail (default for calledEmail). Correct fieldNames, so that it has the names of your service. Default names are guesses, since the service does not document them. "npx',
      ),
    ]);
    expect(await unknown()).toMatchObject([{ properties: ['calledNumber', 'calledEmail'] }]);
    const guessed = setup();
    await guessed.receiver.deliver({ ...FITTING, userId, startedAt: false });
    expect(guessed.logger.all).toEqual([
      expect.stringContaining(
        'incomplete. A boolean instead of a time: startedAt (default for dialedAt); missing: endedAt (default for endedAt). Default names are guesses, since the service does not document them. Set fieldNames to the names of your service. "npx',
      ),
    ]);
  });

  it('is noticed in a later event, and is right once an event has its detail', async () => {
    const { logger, receiver, unknown } = setup({ fieldNames: NAMES });
    const { contact: _contact, ...unnamed } = FITTING;
    await receiver.deliver(unnamed);
    expect(await unknown()).toBeUndefined();
    await receiver.deliver({ ...FITTING, callId: 'c2', contact: { first: 'Ada' } });
    expect(await unknown()).toMatchObject([{ properties: ['calledName'] }]);
    await receiver.deliver({ ...FITTING, callId: 'c3' });
    await receiver.deliver({ ...FITTING, callId: 'c4', contact: 5, mail: 5 });
    expect(await unknown()).toBeUndefined();
    expect(logger.entries).toHaveLength(1);
  });

  it('is none of an event that was made up for a test', async () => {
    const { logger, receiver, unknown } = setup();
    for (const eventName of ['call:started', 'call:completed']) {
      await receiver.deliver({ eventName, callId: 'c1' });
      await receiver.deliver({ eventName, callId: 'c2', fromPhoneNumber: 'x' });
    }
    const person = { recipientName: 'Ada Lovelace', toPhoneNumber: '+15550100' };
    await receiver.deliver({ eventName: 'call:started', callId: 'c3', ...person });
    const ended = { ...person, endedAt: '2026-01-01T12:00:00Z' };
    await receiver.deliver({ eventName: 'call:completed', callId: 'c3', ...ended });
    expect([logger.all, await unknown()]).toEqual([[], undefined]);
  });
});
