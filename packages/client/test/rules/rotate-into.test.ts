import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ConfigurationError, UnconfirmedWriteError } from '../../src/errors.ts';
import { liveSecrets, secretsFrom } from '../../src/rotate-into.ts';
import { caught, everyPrint } from '../support/caught.ts';
import { testClient } from '../support/client.ts';
import { TestClock } from '../support/clock.ts';
import { TestStore } from '../support/secret-store.ts';
import { type Handler, sendJson, startServer, type TestServer } from '../support/server.ts';
import { useServer } from '../support/use-server.ts';

describe('rotateInto', () => {
  let server: TestServer;
  let rotations: number;
  let answer: Handler;

  const secretNumber = (number: number): string =>
    `whsec_${Buffer.from(`secret ${number}`).toString('base64')}`;
  const first = { id: 'first', secret: secretNumber(0), actionId: 'a' };
  const action = { ruleId: 'r', actionId: 'a' };

  beforeEach(async () => {
    rotations = 0;
    answer = (_, response) => sendJson(response, { secret: secretNumber(rotations) });
    server = await startServer((request, response, message) => {
      rotations++;
      return answer(request, response, message);
    });
  });
  afterEach(() => server.close());

  test('saves the new secret first, and the old one with an end', async () => {
    const clock = new TestClock();
    const store = new TestStore(first);
    const result = await testClient(server.origin, { clock }).rules.rotateInto(store, action);
    const id = `a@${new Date(clock.now()).toISOString()}`;
    const current = { id, secret: secretNumber(1), actionId: 'a' };
    const saved = [current, { ...first, expiresAt: clock.now() + 600_000 }];
    expect(result).toEqual({ current, saved, response: { secret: secretNumber(1) } });
    expect(store.saves).toEqual([[first], saved]);
  });

  test('only older secrets of the same action get an end', async () => {
    const clock = new TestClock();
    const other = { id: 'other', secret: secretNumber(7), actionId: 'b' };
    const recording = { id: 'recording', secret: secretNumber(8) };
    const ending = { ...other, secret: secretNumber(9), expiresAt: clock.now() + 5 };
    const store = new TestStore(other, first, recording, ending);
    const { saved } = await testClient(server.origin, { clock }).rules.rotateInto(store, action);
    const ended = { ...first, expiresAt: clock.now() + 600_000 };
    expect(saved.slice(1)).toEqual([other, ended, recording, ending]);
  });

  test('each action of a rule is rotated in turn, and all go on verifying', async () => {
    const clock = new TestClock();
    const store = new TestStore(first, {
      ...first,
      id: 'b',
      secret: secretNumber(7),
      actionId: 'b',
    });
    const { rules } = testClient(server.origin, { clock });
    for (const actionId of ['a', 'b']) await rules.rotateInto(store, { ruleId: 'r', actionId });
    const live = await secretsFrom(store, { now: () => clock.now() + 600_000 })();
    expect(live.map(({ secret }) => secret)).toEqual([secretNumber(2), secretNumber(1)]);
  });

  test('twenty rotations at once take their turn, and lose no secret that is live', async () => {
    const clock = new TestClock();
    const store = new TestStore(first);
    const { rules } = testClient(server.origin, { clock });
    await Promise.all(Array.from({ length: 20 }, () => rules.rotateInto(store, action)));
    expect(store.secrets.map(({ secret }) => secret)).toEqual(
      Array.from({ length: 21 }, (_, index) => secretNumber(20 - index)),
    );
    expect(new Set(store.secrets.map(({ id }) => id)).size).toBe(21);
    expect(store.secrets.filter(({ expiresAt }) => expiresAt === undefined)).toHaveLength(1);
  });

  test('an old secret keeps its earlier end, not a later one, and one whose end is past is dropped', async () => {
    const clock = new TestClock();
    const soon = { ...first, id: 'soon', secret: 'whsec_c29vbg==', expiresAt: clock.now() + 5 };
    const past = { id: 'past', secret: 'whsec_cGFzdA==', expiresAt: clock.now() };
    const late = { ...first, id: 'late', secret: 'whsec_bGF0ZQ==', expiresAt: clock.now() + 99 };
    const store = new TestStore(first, soon, past, late);
    const { saved } = await testClient(server.origin, { clock }).rules.rotateInto(store, {
      ...action,
      overlap: 60,
    });
    expect(saved.slice(1)).toEqual([
      { ...first, expiresAt: clock.now() + 60 },
      soon,
      { ...late, expiresAt: clock.now() + 60 },
    ]);
  });

  test('an answer that repeats the old secret does not pass it off as new', async () => {
    answer = (_, response) => sendJson(response, { old: first.secret, fresh: secretNumber(9) });
    const store = new TestStore(first);
    const { current, saved } = await testClient(server.origin).rules.rotateInto(store, action);
    expect(current.secret).toBe(secretNumber(9));
    expect(saved.map(({ secret }) => secret)).toEqual([secretNumber(9), first.secret]);
  });

  test('of several unknown secrets all are saved without an end, and the call fails with a choice', async () => {
    answer = (_, response) => sendJson(response, [secretNumber(8), secretNumber(9)]);
    const store = new TestStore(first);
    const error = await caught(testClient(server.origin).rules.rotateInto(store, action));
    expect(error).toMatchObject({ code: 'secret-ambiguous' });
    expect(error.message).toContain('All of them were saved');
    expect(error.secrets).toEqual([
      { path: '0', secret: secretNumber(8) },
      { path: '1', secret: secretNumber(9) },
    ]);
    expect(everyPrint(new Error('', { cause: error.message }))).not.toContain('whsec_');
    const saved = store.secrets;
    expect(saved.map(({ expiresAt }) => expiresAt === undefined)).toEqual([true, true, false]);
    expect(saved[0]?.id).not.toBe(saved[1]?.id);
  });

  test('of a whole rule, wire.secretField tells which secret is the new one', async () => {
    const actions = [
      { _id: 'other', signingSecret: secretNumber(7) },
      { _id: 'a', previous: secretNumber(8), current: secretNumber(9) },
    ];
    answer = (_, response) => sendJson(response, { _id: 'r', actions });
    const store = new TestStore(first);
    const wire = { secretField: 'actions.1.current' };
    await testClient(server.origin, { wire }).rules.rotateInto(store, action);
    expect(store.secrets.map(({ secret }) => secret)).toEqual([secretNumber(9), first.secret]);
  });

  describe('nothing is rotated', () => {
    test('when the store cannot be read or written', async () => {
      const store = new TestStore(first);
      const { rules } = testClient(server.origin);
      store.failLoad = new Error('unreadable');
      await expect(rules.rotateInto(store, action)).rejects.toThrow('unreadable');
      store.failLoad = undefined;
      store.beforeSave = () => {
        throw new Error('read-only');
      };
      await expect(rules.rotateInto(store, action)).rejects.toThrow('read-only');
      expect(server.requests).toEqual([]);
    });

    test('for a wrong overlap, or after an abort', async () => {
      const store = new TestStore(first);
      const { rules } = testClient(server.origin);
      const wrong = await caught(rules.rotateInto(store, { ...action, overlap: -1 }));
      expect(wrong).toBeInstanceOf(ConfigurationError);
      const signal = AbortSignal.abort(new Error('early'));
      await expect(rules.rotateInto(store, { ...action, signal })).rejects.toThrow('early');
      expect(server.requests).toEqual([]);
      expect(store.saves).toEqual([]);
    });
  });

  test('a rotation that is not confirmed leaves the store as it was', async () => {
    answer = (_, response) => sendJson(response, {});
    const store = new TestStore(first);
    const error = await caught(testClient(server.origin).rules.rotateInto(store, action));
    expect(error).toBeInstanceOf(UnconfirmedWriteError);
    expect(store.secrets).toEqual([first]);
  });

  describe('a save that fails', () => {
    test('is tried again', async () => {
      const clock = new TestClock();
      const store = new TestStore(first);
      store.beforeSave = (number) => {
        if (number === 2 || number === 3) throw new Error('hiccup');
      };
      await testClient(server.origin, { clock }).rules.rotateInto(store, action);
      expect(store.secrets[0]?.secret).toBe(secretNumber(1));
      expect(clock.pauses).toEqual([250, 500]);
      expect(server.requests).toHaveLength(1);
    });

    test('for good gives the new secret and a way out, and prints neither', async () => {
      const store = new TestStore(first);
      let full = true;
      store.beforeSave = (number, secrets) => {
        if (number > 1 && full) throw new Error(`cannot insert ${JSON.stringify(secrets)}`);
      };
      const error = await caught(testClient(server.origin).rules.rotateInto(store, action));
      expect(error).toMatchObject({ code: 'secret-not-saved' });
      expect(everyPrint(error)).not.toContain('whsec_');
      expect(everyPrint(error)).toContain('cannot insert');
      expect(error.secrets).toEqual([{ path: 'secret', secret: secretNumber(1) }]);
      full = false;
      await (error as unknown as UnconfirmedWriteError).retry?.();
      expect(store.secrets.map(({ secret }) => secret)).toEqual([secretNumber(1), first.secret]);
    });

    test('an abort after the rotation does not keep it from being saved', async () => {
      const controller = new AbortController();
      const store = new TestStore(first);
      store.beforeSave = (number) => {
        if (number === 2) controller.abort();
      };
      await testClient(server.origin).rules.rotateInto(store, {
        ...action,
        signal: controller.signal,
      });
      expect(store.secrets[0]?.secret).toBe(secretNumber(1));
    });
  });

  test('a receiver that asks between "rotated" and "saved" waits for the new secret', async () => {
    const store = new TestStore(first);
    const provider = secretsFrom(store);
    let asked: Promise<readonly { secret: string }[]> | undefined;
    answer = (_, response) => {
      // The service signs with the new secret from here on.
      asked = provider({ refresh: true });
      sendJson(response, { secret: secretNumber(1) });
    };
    await testClient(server.origin, { clock: undefined as never }).rules.rotateInto(store, action);
    expect((await asked)?.map(({ secret }) => secret)).toEqual([secretNumber(1), first.secret]);
  });

  test('a receiver that asks during a rotation waits for those that were queued meanwhile', async () => {
    const store = new TestStore(first);
    const clock = new TestClock();
    const { rules } = testClient(server.origin, { clock });
    const provider = secretsFrom(store, { now: () => clock.now() });
    let asked: Promise<readonly { secret: string }[]> | undefined;
    const others: Promise<unknown>[] = [];
    store.beforeSave = (number) => {
      if (number !== 1) return;
      asked = provider({ refresh: true });
      others.push(rules.rotateInto(store, action));
    };
    await rules.rotateInto(store, action);
    expect((await asked)?.map(({ secret }) => secret)).toEqual([
      ...[secretNumber(2), secretNumber(1), first.secret],
    ]);
    await Promise.all(others);
  });
});

describe('an outdated answer', () => {
  const first = { id: 'first', secret: 'whsec_Zmlyc3Q=' };
  const server = useServer();

  test.each<[string, (old: string) => unknown]>([
    [
      'a masked new secret beside the old one',
      (old) => ({ action: { _id: 'a', signingSecret: 'whsec_ab****' }, previousSecret: old }),
    ],
    ['the old secret under the name of the new one', (old) => ({ _id: 'a', signingSecret: old })],
    ['known secrets of other actions alone', (old) => ({ actions: [{ _id: 'x', secret: old }] })],
  ])('%s is not saved as new', async (_, body) => {
    server.answer = (_request, to) => sendJson(to, body(first.secret));
    const store = new TestStore(first);
    const error = await caught(
      testClient(server.origin).rules.rotateInto(store, { ruleId: 'r', actionId: 'a' }),
    );
    expect(error).toMatchObject({ code: 'write-unconfirmed', response: body(first.secret) });
    expect(error.message).toContain('was known before');
    expect(inspect(error)).not.toContain('whsec_');
    expect(store.secrets).toEqual([first]);
  });
});

describe('secretsFrom', () => {
  test('returns the live secrets, with id and secret only', async () => {
    const store = new TestStore(
      { id: 'new', secret: 'whsec_bmV3' },
      { id: 'old', secret: 'whsec_b2xk', expiresAt: 1000 },
    );
    let now = 999;
    const provider = secretsFrom(store, { now: () => now });
    expect(await provider()).toEqual([
      { id: 'new', secret: 'whsec_bmV3' },
      { id: 'old', secret: 'whsec_b2xk' },
    ]);
    now = 1000;
    expect(await provider({ refresh: true })).toEqual([{ id: 'new', secret: 'whsec_bmV3' }]);
  });
});

test('a secret is live until it expires, if it ever does', () => {
  const secrets = [
    { id: 'a', secret: 'whsec_YQ==' },
    { id: 'b', secret: 'whsec_Yg==', expiresAt: 10 },
  ];
  expect(liveSecrets(secrets, 9)).toEqual(secrets);
  expect(liveSecrets(secrets, 10)).toEqual([secrets[0]]);
});
