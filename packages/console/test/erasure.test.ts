import { describe, expect, it } from '@jest/globals';
import { deferred } from '@call-webhooks/contract-tests';
import { memoryDeadLetters, memoryStore, type Store } from '@call-webhooks/core';
import type { DeadJobs } from '@call-webhooks/core/stores';
import express from 'express';
import request from 'supertest';
import type { DeadLettersPage, ErasureTask, Session, Tasks } from '../src/api-types.ts';
import type { ConsoleAction } from '../src/index.ts';
import { callBody, failing, NOW, open, OWN_PAGE, type Options } from './support.ts';

const ADA = { recipientName: 'Ada Lovelace', toPhoneNumber: '+491715550123' };
const WHOSE = /Ada Lovelace|1715550123/;

/** The dead letters of Ada's calls a1 and a2, and of another call; served by Express. */
async function withLetters(options: Options = {}) {
  const actions: ConsoleAction[] = [];
  const opened = open({
    receiving: { on: failing, maxAttempts: 1 },
    authorize: () => ({ name: 'Grace' }),
    origin: OWN_PAGE.origin,
    onAction: (action) => actions.push(action),
    ...options,
  });
  for (const call of ['a1', 'a2']) await opened.deliver(callBody(call, 'call:completed', ADA));
  await opened.deliver(callBody('other', 'call:completed', { recipientName: 'Ida Holm' }));
  await opened.receiver.close({ graceMs: 0 }); // writes the rest of the log
  const server = request(express().use('/ops/webhooks', opened.console));
  const send = (path: string, body: object, headers = {}) =>
    server
      .post(`/ops/webhooks${path}`)
      .set({ ...OWN_PAGE, ...headers })
      .send(body);
  const erase = (body: object) => send('/api/erase', { waitMs: 20_000, ...body });
  const erased = async (body: object) =>
    ((await erase(body).expect(200)).body as Tasks).erasure as ErasureTask;
  const left = async () =>
    (await opened.deadLetters.list()).letters.map(({ callId }) => callId).sort();
  const logged = async () => (await opened.log.read()).rows.map(({ callId }) => callId).sort();
  return { ...opened, server, actions, send, erase, erased, left, logged };
}

const KEY = 'a1:call:completed';

describe('api/erase', () => {
  it('erases the letters of a person and their outcomes, and of nobody else', async () => {
    const { erased, left, logged, logger, actions, store } = await withLetters();
    expect(await logged()).toEqual(['a1', 'a2', 'other']);
    const known = await store.peek?.([KEY]);
    expect(await erased({ about: '0171 5550123' })).toMatchObject({
      ...{ by: 'Grace', state: 'done', forgetKeys: false },
      counts: { deadLetters: 2, outcomes: 2, keys: 0, running: 0 },
    });
    expect(await left()).toEqual(['other']);
    expect(await logged()).toEqual(['other']);
    expect(await store.peek?.([KEY])).toEqual(known);
    expect(actions).toEqual([{ action: 'erase', by: 'Grace', forgetKeys: false }]);
    expect(logger.lines).toContainEqual(
      expect.stringContaining("Grace started to erase a person's data"),
    );
    expect(logger.lines).toContainEqual(
      expect.stringContaining('Grace erased 2 dead letters, 2 outcomes.'),
    );
  });

  it('forgets the keys of their events if it is asked to', async () => {
    const { erased, store } = await withLetters();
    expect(await store.peek?.([KEY])).toEqual([expect.any(String)]);
    expect(await erased({ about: 'ada lovelace', forgetKeys: true })).toMatchObject({
      ...{ forgetKeys: true, counts: { deadLetters: 2 } },
    });
    expect(await store.peek?.([KEY, 'other:call:completed'])).toEqual([
      undefined,
      expect.any(String),
    ]);
  });

  it('erases only what the filters of the search let through', async () => {
    const { erased, left } = await withLetters();
    expect(await erased({ about: 'Ada Lovelace', text: 'a2:call' })).toMatchObject({
      counts: { deadLetters: 1, outcomes: 1 },
    });
    expect(await left()).toEqual(['a1', 'other']);
    expect(await erased({ about: 'Ada Lovelace', event: 'call:started' })).toMatchObject({
      counts: { deadLetters: 0, outcomes: 0 },
    });
    expect(await left()).toEqual(['a1', 'other']);
  });

  it('erases dead jobs of a queue', async () => {
    const jobs = memoryDeadLetters();
    const { list, get, remove, count } = jobs;
    const deadJobs: DeadJobs = { list, get, remove, count, requeue: () => Promise.resolve(false) };
    const { deadLetters, erased, get: read } = await withLetters({ deadLetters: deadJobs });
    for (const { id } of (await deadLetters.list()).letters)
      await jobs.put({ ...(await deadLetters.get(id))!, errorText: 'no' });
    expect(await erased({ about: 'Ada Lovelace' })).toMatchObject({ counts: { deadLetters: 2 } });
    expect((await jobs.list()).letters.map(({ callId }) => callId)).toEqual(['other']);
    expect(await read('/api/dead-letters')).not.toHaveProperty('keepFor');
  });

  it('keeps whose data it was out of every answer, the log, the actions and the stored task', async () => {
    const opened = await withLetters();
    const { erase, send, server, deadLetters, actions, logger, store } = opened;
    const { get } = deadLetters;
    deadLetters.get = async (id) => {
      deadLetters.get = get; // fails once, and is asked again
      await Promise.reject(new Error('the server is down'));
      return get(id);
    };
    const answers = [
      await erase({ about: 'Ada Lovelace' }).expect(200),
      await erase({ about: 'Ada Lovelace', nonsense: 1 }).expect(400),
      await send('/api/erase/stop', { about: '+491715550123' }).expect(400),
      await server.get('/ops/webhooks/api/tasks').expect(200),
    ].map(({ text }) => text);
    expect(JSON.parse(answers[0]!)).toMatchObject({ erasure: { retries: 1, state: 'done' } });
    const stored = await store.loadCursor?.('console/erasure');
    expect(JSON.parse(stored ?? '')).toMatchObject({ counts: { deadLetters: 2 } });
    expect([...answers, stored, JSON.stringify([actions, logger])].join()).not.toMatch(WHOSE);
  });

  it('is stopped, and a redrive or a removal waits for its end', async () => {
    const { deadLetters, send, server, left, actions } = await withLetters();
    const [held, reached] = [deferred(), deferred()];
    const { get } = deadLetters;
    deadLetters.get = async (id) => {
      reached.resolve();
      await held.promise;
      return get(id);
    };
    await send('/api/erase', { about: 'Ada Lovelace' }).expect(200);
    await reached.promise;
    for (const path of ['/api/redrive', '/api/remove'])
      await send(path, { all: true }).expect(409, /An erasure is running/);
    await send('/api/erase', { about: 'Ada Lovelace' }).expect(409);
    await send('/api/erase/stop', {}).expect(200);
    held.resolve();
    const state = async () =>
      ((await server.get('/ops/webhooks/api/tasks')).body as Tasks).erasure?.state;
    while ((await state()) === 'running') await new Promise((next) => setImmediate(next));
    expect(await state()).toBe('stopped');
    expect(await left()).toEqual(['a1', 'a2', 'other']);
    expect(actions.map(({ action }) => action)).toEqual(['erase', 'abort-erasure']);
  });

  it('is refused while a removal runs', async () => {
    const { deadLetters, send } = await withLetters();
    const held = deferred();
    const { remove } = deadLetters;
    deadLetters.remove = (id) => held.promise.then(() => remove(id));
    await send('/api/remove', { all: true }).expect(200);
    await send('/api/erase', { about: 'Ada Lovelace' }).expect(409, /A removal is running/);
    held.resolve();
  });

  it.each([{ readOnly: true }, { authorize: () => ({ name: 'Bob', canWrite: false }) }])(
    'is refused to those who may not change anything (%j)',
    async (options) => {
      const { erase, left } = await withLetters(options);
      await erase({ about: 'Ada Lovelace' }).expect(403);
      expect(await left()).toEqual(['a1', 'a2', 'other']);
    },
  );

  it('is refused from another origin, in an address, and for what would find too much', async () => {
    const { send, server, left, actions } = await withLetters();
    const about = 'Ada Lovelace';
    await send('/api/erase', { about }, { origin: 'https://evil.test' }).expect(403);
    await send('/api/erase', { about }, { 'sec-fetch-site': 'cross-site' }).expect(403);
    await server.get('/ops/webhooks/api/erase?about=Ada').expect(405);
    await send('/api/erase', {}).expect(400);
    for (const short of ['', '4477', 'a', '+'])
      await send('/api/erase', { about: short }).expect(400, /about: expected a phone number/);
    expect(await left()).toEqual(['a1', 'a2', 'other']);
    expect(actions).toEqual([]);
  });

  it('says when the store cannot forget keys', async () => {
    const store: Store = memoryStore();
    delete store.forget;
    const { erase, get, left } = await withLetters({
      receiving: { on: failing, maxAttempts: 1, store },
    });
    expect(await get<Session>('/api/session')).toMatchObject({ canForget: false });
    await erase({ about: 'Ada Lovelace', forgetKeys: true }).expect(400, /cannot forget keys/);
    expect(await left()).toEqual(['a1', 'a2', 'other']);
  });
});

describe('api/dead-letters', () => {
  const at = (minutes: number) => new Date(NOW + minutes * 60_000);
  const letter = (callId: string, failedAt: Date) => ({
    ...{ reason: 'handler-failed' as const, callId, webhookId: callId, attempt: 1 },
    ...{ eventName: callId === 'late' ? 'call:started' : 'call:completed' },
    ...{ rawBody: new Uint8Array(), source: 'webhook' as const, timestamp: failedAt },
    ...{ failedAt, error: undefined, errorText: 'no' },
  });

  it.each([undefined, 86_400_000])(
    'tells how old the oldest letter is, whatever is filtered, and keepFor (%s)',
    async (keepFor) => {
      const deadLetters = memoryDeadLetters({ keepFor });
      const { get } = open({ deadLetters });
      const page = (query = '') => get<DeadLettersPage>(`/api/dead-letters${query}`);
      expect(await page()).toMatchObject({ oldestAt: null, keepFor: keepFor ?? null });
      await deadLetters.put(letter('late', at(5)));
      await deadLetters.put(letter('early', at(1)));
      expect(await page('?event=call:started')).toMatchObject({
        ...{ total: 1, oldestAt: at(1).getTime(), keepFor: keepFor ?? null },
      });
      expect(await page('?text=late')).toMatchObject({ total: 1, oldestAt: at(1).getTime() });
    },
  );
});
