import { describe, expect, it } from '@jest/globals';
import { memoryDeadLetters, type DeadLetter, type DeadLetters } from '@call-webhooks/core';
import type { DeadLetterFailure } from '@call-webhooks/core/stores';
import type { DeadLetterDetail, DeadLettersPage } from '../src/api-types.ts';
import type { ConsoleAction } from '../src/index.ts';
import { callBody, NOW, open, withLetter, wrote } from './support.ts';

/** A dead letter as a receiver puts it. */
const letterOf = (callId: string, more: Partial<DeadLetter> = {}): DeadLetter => ({
  ...{ reason: 'handler-failed', eventName: 'call:completed', callId, attempt: 3 },
  ...{ webhookId: `w-${callId}`, key: `${callId}:call:completed`, source: 'webhook' },
  rawBody: new TextEncoder().encode(callBody(callId)),
  timestamp: new Date(NOW - 5_000),
  failedAt: new Date(NOW),
  error: undefined,
  errorText: `no contact "${callId}"`,
  ...more,
});

async function withLetters(letters: readonly DeadLetter[]) {
  const deadLetters = memoryDeadLetters();
  for (const letter of letters) await deadLetters.put(letter);
  const opened = open({ deadLetters });
  const list = (query = '') => opened.get<DeadLettersPage>(`/api/dead-letters?${query}`);
  const calls = async (query: string) => (await list(query)).letters.map(({ callId }) => callId);
  return { ...opened, deadLetters, list, calls };
}

const at = (minutes: number) => ({ failedAt: new Date(NOW + minutes * 60_000) });

describe('api/dead-letters', () => {
  it('lists the newest first, page by page', async () => {
    const { list, calls } = await withLetters(
      ['c1', 'c2', 'c3'].map((call, index) => letterOf(call, at(index))),
    );
    const first = await list('limit=2');
    expect(first.total).toBe(3);
    expect(first.letters).toMatchObject([
      { callId: 'c3', reason: 'handler-failed', source: 'webhook', attempt: 3, attempts: 3 },
      { callId: 'c2' },
    ]);
    expect(first).not.toHaveProperty('searched');
    expect(await calls('limit=2&offset=2')).toEqual(['c1']);
  });

  it('groups them by cause: how many, since when, which events, and an example', async () => {
    const { list, calls } = await withLetters([
      letterOf('c1', at(0)),
      letterOf('c2', { ...at(1), eventName: 'call:started' }),
      letterOf('c3', { ...at(2), errorText: 'The CRM responded 503 for "c3".' }),
      letterOf('c4', at(3)),
    ]);
    const { causes, eventNames } = await list();
    expect(causes).toMatchObject([
      {
        ...{ text: 'no contact …', count: 3, firstAt: NOW, lastAt: NOW + 180_000 },
        eventNames: ['call:completed', 'call:started'],
        example: { error: 'no contact "c4"' },
      },
      { text: 'The CRM responded 503 for …', count: 1 },
    ]);
    expect(eventNames).toEqual(['call:completed', 'call:started']);
    expect(await calls(`cause=${causes[0]?.id ?? ''}`)).toEqual(['c4', 'c2', 'c1']);
    expect(await list(`cause=${causes[0]?.id ?? ''}`)).toMatchObject({ total: 3 });
    expect(await calls('cause=unknown')).toEqual([]);
    expect((await list('event=call:started')).causes).toMatchObject([{ count: 1 }]);
  });

  it('filters, and searches by call, key and text of the error', async () => {
    const { calls } = await withLetters([
      letterOf('c1', at(0)),
      letterOf('c2', {
        ...at(1),
        reason: 'invalid-payload',
        tenant: 'acme',
        eventName: 'crm:note',
      }),
      letterOf('c3', { ...at(2), errorText: 'Timeout of the CRM' }),
    ]);
    expect(await calls('text=C1')).toEqual(['c1']);
    expect(await calls('text=c2:call')).toEqual(['c2']);
    expect(await calls('text=timeout')).toEqual(['c3']);
    expect(await calls('text=w-c3')).toEqual(['c3']);
    expect(await calls('reason=invalid-payload')).toEqual(['c2']);
    expect(await calls('tenant=acme')).toEqual(['c2']);
    expect(await calls('event=crm:note')).toEqual(['c2']);
    expect(await calls('text=timeout&tenant=acme')).toEqual([]);
  });

  it('offers all tenants and events, also once one was chosen', async () => {
    const { list } = await withLetters([
      letterOf('c1', { tenant: 'acme' }),
      letterOf('c2', { tenant: 'globex', eventName: 'call:started' }),
    ]);
    const all = { tenants: ['acme', 'globex'], eventNames: ['call:completed', 'call:started'] };
    expect(await list('tenant=acme')).toMatchObject({ ...all, total: 1 });
    expect(await list('event=call:started')).toMatchObject({ ...all, total: 1 });
    expect(await list()).toMatchObject({ ...all, total: 2 });
  });

  it('counts those that it has read, if some came or went while it read', async () => {
    const { list, deadLetters } = await withLetters([letterOf('c1'), letterOf('c2')]);
    deadLetters.count = () => Promise.resolve(3);
    const page = await list();
    expect(page.total).toBe(2);
    expect(page).not.toHaveProperty('searched');
  });

  it('of more than 10,000 searches the newest, and says so', async () => {
    const kept = Array.from({ length: 12_000 }, (_, index) => ({
      ...{ ...letterOf(`c${index}`), id: `l${index}`, bytes: 2, error: 'no', history: [] },
      failedAt: new Date(NOW + 10 * index),
    }));
    const from = (since = new Date(0)) => kept.filter(({ failedAt }) => failedAt >= since);
    const deadLetters: DeadLetters = {
      ...memoryDeadLetters(),
      count: async ({ since } = {}) => from(since).length,
      async list({ since, cursor = '0', limit = 100 } = {}) {
        const end = Number(cursor) + limit;
        const letters = from(since);
        const more = end < letters.length && { cursor: String(end) };
        return { letters: letters.slice(Number(cursor), end), ...more };
      },
    };
    const { get } = open({ deadLetters });
    const page = await get<DeadLettersPage>('/api/dead-letters');
    expect(page.total).toBe(12_000);
    expect(page.letters[0]?.callId).toBe('c11999');
    expect(page.searched).toBeLessThanOrEqual(10_000);
    expect(page.searched).toBeGreaterThanOrEqual(5_000);
    expect(page.causes).toMatchObject([{ count: page.searched }]);
  });

  it('says when the store does not respond, and nothing of why', async () => {
    const { ask, deadLetters, logger } = await withLetters([]);
    deadLetters.list = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1'));
    const response = await ask('/api/dead-letters');
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('10.0.0.1');
    expect(logger.lines.join()).toContain('ECONNREFUSED');
  });

  it('says when the console has none', async () => {
    const { ask, get } = open({ deadLetters: undefined });
    const response = await ask('/api/dead-letters');
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { code: 'not-configured' } });
    expect(await get('/api/tasks')).toMatchObject({ waiting: null });
  });
});

describe('one dead letter', () => {
  it('is masked until somebody asks, which is logged', async () => {
    const actions: ConsoleAction[] = [];
    const { get, post, id, logger } = await withLetter({ onAction: (done) => actions.push(done) });
    const masked = await get<DeadLetterDetail>(`/api/dead-letters/${id}`);
    expect(masked.body).toMatchObject({ masked: true, truncated: false });
    expect(JSON.stringify(masked)).not.toMatch(/Grace|Hopper/);
    expect(JSON.parse(masked.body.text ?? '')).toMatchObject({
      ...{ eventName: 'call:completed', callId: 'c1', recipientName: '••• text' },
    });
    expect(actions).toEqual([]);

    const { body } = await post<DeadLetterDetail>(`/api/dead-letters/${id}/reveal`);
    expect(body).toMatchObject({ masked: false, bytes: masked.body.bytes });
    expect(masked.stack).toMatch(/^at .*support\.ts:\d+:\d+/);
    expect(body.text).toContain('"recipientName":"Grace Hopper"');
    expect(actions).toEqual([{ action: 'reveal', by: 'Ada', letterId: id }]);
    expect(logger.entries.at(-1)).toMatchObject({
      level: 'info',
      fields: { action: 'reveal', by: 'Ada', letterId: id },
      message: 'call-webhooks: console: Ada read the body of a dead letter',
    });
  });

  it('has every attempt and every time: of the log, of the last attempt, and of redrives', async () => {
    const { deadLetters, get, log, calls, list } = await withLetters([
      letterOf('c1', { tenant: 'acme', attempt: 4 }),
    ]);
    const { id = '' } = (await deadLetters.list()).letters[0] ?? {};
    const of = { outcome: 'handler-failed', key: 'c1:call:completed', tenant: 'acme' } as const;
    const before = (minutes: number, attempt: number, error: string) =>
      wrote(log, [{ ...of, at: NOW - minutes * 60_000, attempt, error }]);
    await before(30, 9, 'of an earlier life of the event');
    await before(20, 2, 'The handler failed: second');
    await before(10, 3, 'third');
    await before(0, 4, 'The handler failed: the last one, which the letter has');
    await before(-1, 3, 'after it');
    await wrote(log, [{ ...of, key: 'c2:call:completed', attempt: 2, error: 'of another' }]);
    for (const [redrive, minutes] of [1, 2].entries()) {
      await deadLetters.claim(id, { token: 't', leaseMs: 1_000 });
      const { failedAt } = at(minutes);
      const failed = { at: failedAt, source: 'redrive', attempt: redrive + 1, error: 'again' };
      await deadLetters.giveBack(id, 't', failed as DeadLetterFailure);
    }
    const row = {
      ...{ id, reason: 'handler-failed', tenant: 'acme', webhookId: 'w-c1', callId: 'c1' },
      ...{ eventName: 'call:completed', key: 'c1:call:completed', source: 'redrive' },
      ...{ error: 'again', attempt: 2, attempts: 6, signedAt: NOW - 5_000, deadLetterSince: NOW },
      failedAt: NOW + 120_000,
    };
    expect((await list()).letters).toEqual([row]);
    const { body, ...detail } = await get<DeadLetterDetail>(`/api/dead-letters/${id}`);
    expect(detail).toEqual({
      ...row,
      history: [
        { at: NOW - 1_200_000, source: 'webhook', attempt: 2, error: 'second' },
        { at: NOW - 600_000, source: 'webhook', attempt: 3, error: 'third' },
        { at: NOW, source: 'webhook', attempt: 4, error: 'no contact "c1"' },
        { at: NOW + 60_000, source: 'redrive', attempt: 1, error: 'again' },
        { at: NOW + 120_000, source: 'redrive', attempt: 2, error: 'again' },
      ],
      earlierAttempts: 1,
    });
    expect(body).toMatchObject({ masked: true, truncated: false });
    expect(await calls('text=again')).toEqual(['c1']);
    await deadLetters.claim(id, { token: 't', leaseMs: 1_000 });
    const claimed = await get<DeadLetterDetail>(`/api/dead-letters/${id}`);
    expect(claimed).toEqual({ ...detail, body, claimedUntil: expect.any(Number) });
  });

  it('says how many attempts no log has', async () => {
    const { list, get } = await withLetters([letterOf('c1')]);
    const [letter] = (await list()).letters;
    expect(letter).toMatchObject({ attempts: 3 });
    expect(await get(`/api/dead-letters/${letter?.id ?? ''}`)).toMatchObject({
      ...{ history: [{ attempt: 3 }], earlierAttempts: 2 },
    });
  });

  it('is removed once, which is logged', async () => {
    const { post, get, send, id, logger } = await withLetter();
    expect(await post(`/api/dead-letters/${id}/remove`)).toEqual({ removed: true });
    expect(await post(`/api/dead-letters/${id}/remove`)).toEqual({ removed: false });
    expect(logger.lines.join()).toContain('Ada removed a dead letter');
    expect(await get(`/api/dead-letters/${id}`)).toMatchObject({
      error: { code: 'unknown-letter' },
    });
    expect((await send(`/api/dead-letters/${id}/reveal`)).status).toBe(422);
    expect(await get('/api/dead-letters')).toMatchObject({ letters: [], total: 0 });
  });

  it('is cut where its body is long, and has no text where it is no JSON', async () => {
    const { list, get, post } = await withLetters([
      letterOf('c1', { rawBody: new TextEncoder().encode('name=Ada') }),
      letterOf('c2', {
        ...at(1),
        rawBody: new TextEncoder().encode(JSON.stringify(Array(200_000).fill('x'))),
      }),
    ]);
    const [long, odd] = (await list()).letters;
    const body = async (id = '', action = '') => {
      const path = `/api/dead-letters/${id}${action}`;
      return (action ? await post<DeadLetterDetail>(path) : await get<DeadLetterDetail>(path)).body;
    };
    expect(await body(odd?.id)).toEqual({ masked: true, text: null, bytes: 8, truncated: false });
    expect(await body(odd?.id, '/reveal')).toMatchObject({ text: 'name=Ada' });
    const cut = await body(long?.id, '/reveal');
    expect(cut.truncated).toBe(true);
    expect(cut.text).toHaveLength(256 * 1024);
  });
});
