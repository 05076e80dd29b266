import { describe, expect, it } from '@jest/globals';
import { deferred, waitFor } from '@call-webhooks/contract-tests';
import type { DeadLetterDetail, DeadLettersPage, RedriveTask } from '../src/api-types.ts';
import type { ConsoleAction } from '../src/index.ts';
import { failing } from './attacks.ts';
import { callBody, open, type Options } from './support.ts';

const PERSONAL = {
  recipientName: 'Grace Hopper',
  toPhoneNumber: '+49 170 1234567',
  note: 'call her back about the loan',
  createdAt: '2026-01-02T03:04:05.678Z',
  durationSeconds: 61,
  'Grace Hopper': 3,
};

/** A console with dead letters of these calls. Their handler fails as long as `crm.fails`. */
async function withLetters(calls: string[], options: Options = {}) {
  const crm = { fails: true, run: (_callId: string) => Promise.resolve() };
  const on = {
    'call:completed': async ({ callId }: { callId?: unknown }) => {
      if (crm.fails) throw new Error('the CRM is down');
      await crm.run(String(callId));
    },
  };
  const opened = open({ receiving: { on, maxAttempts: 1 }, ...options });
  for (const call of calls) await opened.deliver(callBody(call, 'call:completed', PERSONAL));
  const { letters } = await opened.deadLetters.list();
  const idOf = (call: string) => letters.find(({ callId }) => callId === call)?.id ?? '';
  const redrive = async (body: object) =>
    (await opened.post<{ task: RedriveTask }>('/api/redrive', { waitMs: 20_000, ...body })).task;
  return { ...opened, crm, idOf, redrive };
}

describe('api/dead-letters', () => {
  it('lists what failed, a page at a time', async () => {
    const { get } = await withLetters(['c1', 'c2', 'c3']);
    const first = await get<DeadLettersPage>('/api/dead-letters?limit=2&event=call:completed');
    expect(first.total).toBe(3);
    expect(first.letters).toMatchObject([
      { callId: 'c1', reason: 'handler-failed', source: 'webhook', attempt: 1, attempts: 1 },
      { callId: 'c2' },
    ]);
    const last = await get<DeadLettersPage>(
      `/api/dead-letters?limit=2&cursor=${first.cursor ?? ''}`,
    );
    expect(last.letters.map(({ callId }) => callId)).toEqual(['c3']);
    expect(last.cursor).toBeUndefined();
    const none = await get<DeadLettersPage>('/api/dead-letters?reason=invalid-payload');
    expect(none).toEqual({ letters: [], total: 0 });
  });

  it('counts the failed attempts, those of redrives too', async () => {
    const { deliver, redrive, get } = await withLetters([], {
      receiving: { on: failing, maxAttempts: 3 },
    });
    for (let sent = 0; sent < 3; sent += 1) await deliver(callBody('c1'));
    const attempts = async () =>
      (await get<DeadLettersPage>('/api/dead-letters')).letters.map((letter) => letter.attempts);
    expect(await attempts()).toEqual([3]);
    await redrive({ all: true });
    expect(await attempts()).toEqual([4]);
  });

  it('masks personal data until somebody asks, and logs who asked', async () => {
    const actions: ConsoleAction[] = [];
    const { get, post, idOf, logger } = await withLetters(['c1'], {
      onAction: (action) => actions.push(action),
    });
    const id = idOf('c1');
    const masked = await get<DeadLetterDetail>(`/api/dead-letters/${id}`);
    expect(masked.body).toMatchObject({ masked: true, isJson: true, truncated: false });
    for (const secret of ['Grace', 'Hopper', '1234567', 'loan'])
      expect(JSON.stringify(masked)).not.toContain(secret);
    expect(JSON.parse(masked.body.text ?? '')).toMatchObject({
      ...{ eventName: 'call:completed', callId: 'c1', recipientName: '•••', toPhoneNumber: '•••' },
      ...{ createdAt: PERSONAL.createdAt, durationSeconds: 61, note: '•••' },
    });
    expect(masked.history).toMatchObject([{ source: 'webhook', attempt: 1 }]);
    expect(actions).toEqual([]);

    const { body } = await post<DeadLetterDetail>(`/api/dead-letters/${id}/reveal`);
    expect(body).toMatchObject({ masked: false, bytes: masked.body.bytes });
    expect(JSON.parse(body.text ?? '')).toEqual(
      JSON.parse(callBody('c1', 'call:completed', PERSONAL)) as unknown,
    );
    expect(actions).toEqual([{ action: 'reveal', by: 'Ada', letterId: id }]);
    expect(logger.entries.at(-1)).toMatchObject({
      level: 'info',
      fields: { action: 'reveal', by: 'Ada', letterId: id },
      message: 'call-webhooks: console: Ada read the body of a dead letter',
    });
  });

  it('removes a letter once, and logs it', async () => {
    const { post, get, send, idOf, logger } = await withLetters(['c1']);
    const id = idOf('c1');
    expect(await post(`/api/dead-letters/${id}/remove`)).toEqual({ removed: true });
    expect(await post(`/api/dead-letters/${id}/remove`)).toEqual({ removed: false });
    expect(logger.lines.join()).toContain('Ada removed a dead letter');
    expect(await get(`/api/dead-letters/${id}`)).toMatchObject({
      error: { code: 'unknown-letter' },
    });
    expect((await send(`/api/dead-letters/${id}/reveal`, {})).status).toBe(422);
  });

  it('says when the store does not answer, and nothing of why', async () => {
    const { ask, deadLetters, logger } = await withLetters([]);
    deadLetters.list = () => Promise.reject(new Error('connect ECONNREFUSED 10.0.0.1'));
    const response = await ask('/api/dead-letters');
    expect(response.status).toBe(503);
    expect(await response.text()).not.toContain('10.0.0.1');
    expect(logger.lines.join()).toContain('ECONNREFUSED');
  });

  it('says when the console has none', async () => {
    const { ask } = open({ deadLetters: undefined });
    const response = await ask('/api/dead-letters');
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ error: { code: 'not-configured' } });
  });
});

describe('api/redrive', () => {
  it('runs those that are named, and tells what became of each', async () => {
    const { crm, idOf, redrive, deadLetters, get } = await withLetters(['c1', 'c2', 'c3']);
    crm.fails = false;
    const task = await redrive({ ids: [idOf('c1'), idOf('c3'), 'gone', idOf('c1')] });
    expect(task).toMatchObject({
      ...{ by: 'Ada', state: 'done', total: 3, endedAt: expect.any(Number) },
      counts: { handled: 2, skipped: 1, failed: 0 },
    });
    expect(task.letters).toContainEqual({ id: idOf('c3'), result: 'handled', outcome: 'handled' });
    expect(await get('/api/redrive')).toEqual({ task });
    expect((await deadLetters.list()).letters.map(({ callId }) => callId)).toEqual(['c2']);
  });

  it('runs those that match, and all', async () => {
    const { crm, redrive, deadLetters } = await withLetters(['c1', 'c2', 'c3']);
    const none = await redrive({ filter: { event: 'call:started' } });
    expect(none).toMatchObject({ state: 'done', total: 0 });
    const failed = await redrive({ filter: { event: 'call:completed' } });
    expect(failed).toMatchObject({ total: 3, counts: { failed: 3, handled: 0 } });
    crm.fails = false;
    expect(await redrive({ all: true })).toMatchObject({ total: 3, counts: { handled: 3 } });
    expect(await deadLetters.count()).toBe(0);
  });

  it('shows its progress, runs once at a time, and stops when it is told to', async () => {
    const calls = ['c1', 'c2', 'c3', 'c4'];
    const { crm, get, post, send, deadLetters } = await withLetters(calls, {
      redrive: { concurrency: 1 },
    });
    crm.fails = false;
    const begun = deferred<string>();
    const running = deferred();
    crm.run = (call) => {
      if (call !== 'c2') return Promise.resolve();
      begun.resolve(call);
      return running.promise;
    };
    const { task } = await post<{ task: RedriveTask }>('/api/redrive', { all: true });
    expect(task).toMatchObject({ state: 'running', endedAt: null });
    await begun.promise;
    const during = await get<{ task: RedriveTask }>('/api/redrive');
    expect(during.task).toMatchObject({ id: task.id, total: 4, counts: { handled: 1 } });
    const second = await send('/api/redrive', { all: true });
    expect(second.status).toBe(409);
    expect(await second.json()).toMatchObject({ error: { code: 'already-running' } });
    await post('/api/redrive/abort');
    running.resolve();
    const state = async () => (await get<{ task: RedriveTask }>('/api/redrive')).task;
    await waitFor(async () => (await state()).state !== 'running');
    expect(await state()).toMatchObject({ state: 'aborted', total: 4, counts: { handled: 2 } });
    expect(await deadLetters.count()).toBe(2);
  });

  it('begins no further letter once one failed, or once it is closed', async () => {
    const calls = Array.from({ length: 10 }, (_, index) => `c${String(index)}`);
    const { redrive, idOf, deadLetters, console, send } = await withLetters(calls);
    let claims = 0;
    deadLetters.claim = () => {
      claims += 1;
      return Promise.reject(new Error('disk full'));
    };
    expect(await redrive({ ids: calls.map(idOf) })).toMatchObject({ state: 'failed', total: 10 });
    expect(claims).toBeLessThanOrEqual(4); // those that ran at the same time
    await console.close();
    expect((await send('/api/redrive', { all: true })).status).toBe(409);
  });

  it('says why it failed', async () => {
    const { redrive, deadLetters } = await withLetters(['c1']);
    deadLetters.claim = () => Promise.reject(new Error('disk full'));
    expect(await redrive({ all: true })).toMatchObject({
      state: 'failed',
      error: expect.stringContaining('disk full'),
    });
  });
});
