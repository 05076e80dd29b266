import { describe, expect, it } from '@jest/globals';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import type { Tasks } from '../src/api-types.ts';
import type { ConsoleAction } from '../src/index.ts';
import { callBody, failing, open } from './support.ts';

const ABOUT = { about: 'Ada Lovelace' };

/** Each change and each look at personal data, and what is told of it. ID is that of a letter. */
const ACTIONS: [path: string, body: object, told: object][] = [
  ['/api/dead-letters/ID/reveal', {}, { action: 'reveal', letterId: 'ID' }],
  ['/api/dead-letters/search', ABOUT, { action: 'search' }],
  ['/api/dead-letters/ID/remove', {}, { action: 'remove', letterId: 'ID' }],
  ['/api/redrive', { ids: ['ID'] }, { action: 'redrive', letters: 1 }],
  ['/api/redrive', { all: true }, { action: 'redrive' }],
  ['/api/remove', { ids: ['ID', 'gone'] }, { action: 'remove', letters: 2 }],
  ['/api/remove', { filter: { text: 'c1' } }, { action: 'remove' }],
  ['/api/erase', ABOUT, { action: 'erase', forgetKeys: false }],
  ['/api/erase', { ...ABOUT, forgetKeys: true }, { action: 'erase', forgetKeys: true }],
];

const withId = (text: string, id: string) => text.replaceAll('ID', id);

async function withLetter(more: object = {}) {
  const actions: ConsoleAction[] = [];
  const opened = open({
    receiving: { on: failing, maxAttempts: 1 },
    onAction: (action) => actions.push(action),
    ...more,
  });
  await opened.deliver(callBody('c1', 'call:completed', { recipientName: 'Ada Lovelace' }));
  const [letter] = (await opened.deadLetters.list()).letters;
  return { ...opened, actions, id: letter!.id };
}

describe.each(ACTIONS)('%s with %j', (path, body, told) => {
  it('is told once, with who did it', async () => {
    const { send, actions, id } = await withLetter();
    const response = await send(withId(path, id), JSON.parse(withId(JSON.stringify(body), id)));
    expect(response.status).toBe(200);
    const expected = JSON.parse(withId(JSON.stringify(told), id)) as object;
    expect(actions).toEqual([{ ...expected, by: 'Ada' }]);
  });

  it('is a warning of a logger that has no info()', async () => {
    const warnings: [fields: unknown, message: string][] = [];
    const logger = {
      warn: (...given: [unknown, string]) => void warnings.push(given),
      error: () => undefined,
    };
    const { send, id } = await withLetter({ logger });
    await send(withId(path, id), JSON.parse(withId(JSON.stringify(body), id)));
    expect(warnings[0]![0]).toMatchObject({ action: (told as ConsoleAction).action, by: 'Ada' });
    expect(warnings[0]![1]).toContain('Ada ');
  });

  it('is told of nobody who was refused, and not for what is wrong', async () => {
    const { send, actions, id, deadLetters } = await withLetter();
    const sent = JSON.parse(withId(JSON.stringify(body), id)) as object;
    await send(withId(path, id), sent, { 'sec-fetch-site': 'cross-site' });
    if (!path.includes('ID')) await send(path, { ...sent, nonsense: 1 });
    expect(actions).toEqual([]);
    expect(await deadLetters.count()).toBe(1);
  });
});

describe('what did nothing is told as nothing', () => {
  it.each([
    ...['/api/redrive/stop', '/api/remove/stop', '/api/erase/stop', '/api/reconcile/stop'],
    ...['/api/dead-letters/gone/remove', '/api/dead-letters/gone/reveal'],
  ])('%s', async (path) => {
    const { send, actions } = await withLetter();
    await send(path);
    expect(actions).toEqual([]);
  });
});

it.each([
  ['/api/redrive', 'claim', { all: true }, 'abort-redrive', 'redrive'],
  ['/api/remove', 'remove', { all: true }, 'abort-removal', 'removal'],
  ['/api/erase', 'claim', ABOUT, 'abort-erasure', 'erasure'],
] as const)('%s is stopped, which is told once', async (path, method, body, action, task) => {
  const { post, get, actions, deadLetters } = await withLetter();
  const [held, reached] = [deferred(), deferred()];
  const works = deadLetters[method] as (...given: unknown[]) => Promise<unknown>;
  Object.assign(deadLetters, {
    [method]: async (...given: unknown[]) => {
      reached.resolve();
      await held.promise;
      return works(...given);
    },
  });
  await post(path, body);
  await reached.promise;
  await post(`${path}/stop`);
  held.resolve();
  await waitFor(async () => (await get<Tasks>('/api/tasks'))[task]?.state !== 'running');
  await post(`${path}/stop`);
  expect(actions.slice(1)).toEqual([{ action, by: 'Ada' }]);
});

it.each(['/api/redrive', '/api/remove', '/api/erase'])(
  '%s of somebody without a name is told of an operator',
  async (path) => {
    const { post, actions, logger } = await withLetter({ authorize: () => true });
    await post(path, { ...(path === '/api/erase' ? ABOUT : { all: true }), waitMs: 20_000 });
    expect(actions).toMatchObject([{ by: null }]);
    expect(logger.lines.join()).toMatch(/console: an operator started/);
    if (path === '/api/erase') expect(logger.lines.join()).toContain('an operator erased 1 dead');
  },
);
