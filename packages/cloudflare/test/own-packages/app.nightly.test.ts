import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  callBody,
  deferred,
  serveLocally,
  startSender,
  waitFor,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { Miniflare } from 'miniflare';
import { bundled, COMPATIBILITY_DATE } from './support.ts';

describe('a Worker with store, queue and consumer, in workerd', () => {
  const secret = generateSecret();
  const runs: string[] = [];
  /** Each fails once. */
  const failing = new Set<string>();
  const waiting = new Map<string, Promise<unknown>>();
  let control: Awaited<ReturnType<typeof serveLocally>>;
  let miniflare: Miniflare;
  let origin: string;

  beforeAll(async () => {
    control = await serveLocally((request, response) => {
      const run = decodeURIComponent((request.url ?? '').slice(1));
      runs.push(run);
      response.setHeader('connection', 'close'); // workerd must not use it when it has just ended
      const respond = () => response.writeHead(failing.delete(run) ? 500 : 200).end();
      void Promise.resolve(waiting.get(run)).then(respond);
    });
    const consumed = { maxBatchTimeout: 0, maxRetries: 3 };
    miniflare = new Miniflare({
      modules: [
        { type: 'ESModule', path: 'app-worker.mjs', contents: await bundled('app-worker') },
      ],
      compatibilityDate: COMPATIBILITY_DATE,
      bindings: { CALL_WEBHOOK_SECRET: secret, CONTROL: control.origin },
      durableObjects: {
        CALL_WEBHOOKS: { className: 'CallWebhooksStore', useSQLite: true },
        FROZEN: { className: 'FrozenStore', useSQLite: true },
      },
      queueProducers: { CALLS: 'calls', DEAD_CALLS: 'dead-calls' },
      queueConsumers: { calls: consumed, 'dead-calls': consumed },
    });
    origin = (await miniflare.ready).origin;
    // On a busy machine the first deliveries are late: they start an isolate and its objects.
    for (const [path, status] of [
      ['/hook', 202],
      ['/direct', 200],
    ] as const)
      await waitFor(
        async () => (await post(`first-${crypto.randomUUID()}`, path)).status === status,
      );
  });
  afterAll(async () => {
    await miniflare.dispose();
    await control.close();
  });

  const post = (callId: string, path = '/hook', more = {}) =>
    startSender(origin + path, secret).post(callBody(callId), more);
  const runsOf = (callId: string) => runs.filter((run) => run.includes(`/${callId}`));

  it('queues a signed webhook, runs it once, and refuses replays, duplicates and forgeries', async () => {
    const webhookId = crypto.randomUUID();
    expect(await post('once', '/hook', { webhookId })).toEqual({ status: 202, outcome: 'queued' });
    await waitFor(() => runsOf('once').length > 0);
    expect((await post('once', '/hook', { webhookId })).outcome).toBe('replayed');
    expect((await post('once')).outcome).toBe('duplicate');
    const forged = await post('forged', '/hook', { secret: generateSecret() });
    expect(forged.status).toBe(401);
    const replies = await Promise.all(Array.from({ length: 20 }, () => post('at-once')));
    expect(replies.filter(({ outcome }) => outcome === 'queued')).toHaveLength(1);
    await waitFor(() => runsOf('at-once').length > 0);
    expect([runsOf('once'), runsOf('forged'), runsOf('at-once')]).toEqual([
      ['queue/once/1'],
      [],
      ['queue/at-once/1'],
    ]);
  });

  it('runs a failing handler again, and then gives it up to deadLetter and deadQueue', async () => {
    failing.add('queue/fails/1').add('queue/fails/2');
    expect((await post('fails')).status).toBe(202);
    await waitFor(() => runsOf('fails').length === 4);
    const key = 'fails:call:completed';
    expect(runsOf('fails')).toEqual([
      'queue/fails/1',
      'queue/fails/2',
      `letter/${key}`,
      `dead/${key}`,
    ]);
  });

  it('calls deadLetter again if it fails, and does not call the handler', async () => {
    const letter = 'letter/unlucky:call:completed';
    failing.add('queue/unlucky/1').add('queue/unlucky/2').add(letter);
    await post('unlucky');
    await waitFor(() => runsOf('unlucky').length === 5);
    expect(runsOf('unlucky')).toEqual([
      ...['queue/unlucky/1', 'queue/unlucky/2', letter, letter],
      'dead/unlucky:call:completed',
    ]);
  });

  it('queues a body that is too large for a message', async () => {
    const body = callBody('large', 'call:completed', { note: 'é'.repeat(300_000) });
    const size = String(Buffer.byteLength(body));
    const reply = await startSender(`${origin}/hook`, secret).post(body);
    expect(reply).toEqual({ status: 202, outcome: 'queued' });
    await waitFor(() => runsOf('large').length === 1);
    expect(runsOf('large')).toEqual([`queue/large/1/${size}`]);
  });

  it('hands a message that is no delivery to deadQueue as it is', async () => {
    const headers = { connection: 'close' };
    const sent = await fetch(`${origin}/text`, { method: 'POST', headers, body: 'no-delivery' });
    expect(sent.status).toBe(200);
    await waitFor(() => runsOf('no-delivery').length > 0);
    expect(runsOf('no-delivery')).toEqual(['dead/no-delivery']);
  });

  it('answers 503 and runs nothing while the object does not answer', async () => {
    const reply = await post('frozen', '/frozen');
    expect(reply).toEqual({ status: 503, outcome: 'store-unavailable' });
    expect(runsOf('frozen')).toEqual([]);
  });

  it('keeps a handler alive that is late, and then knows its event as done', async () => {
    const release = deferred();
    const isLate = async () => {
      // A delivery that is late before its handler has begun does not show it: another event may.
      const callId = `late-${crypto.randomUUID()}`;
      waiting.set(`direct/${callId}/1`, release.promise);
      const { outcome } = await post(callId, '/direct');
      if (outcome !== 'deadline' || runsOf(callId).length === 0) return false;
      late = callId;
      return true;
    };
    let late = '';
    await waitFor(isLate);
    await waitFor(async () => (await post(late, '/direct')).outcome === 'in-progress');
    release.resolve();
    await waitFor(async () => (await post(late, '/direct')).outcome === 'duplicate');
    expect(runsOf(late)).toEqual([`direct/${late}/1`]);
  });
});
