import { describe, expect, it, jest } from '@jest/globals';
import { createClient, systemClock } from '@call-webhooks/client';
import { generateSecret, memoryDeadLetters } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import type { ReconcileTask, Session, Tasks } from '../src/api-types.ts';
import { createConsole, type ConsoleReconcile } from '../src/index.ts';
import { callBody, closeLater, failing, NOW, open, storeWithClock } from './support.ts';

const client = { baseUrl: 'https://api.test', calls: {} };
const TENANT = 'a'.repeat(128);

describe('createConsole', () => {
  const made = (options: object) => () => {
    const { receiver } = open();
    return createConsole({ receiver, authorize: () => true, ...options });
  };

  it.each([
    ...[{ concurrency: 1 }, { concurrency: 1_000 }, { leaseFor: 1_000 }, { leaseFor: 3_600_000 }],
    { defaultTenant: 'acme' },
  ])('takes for redrives %j', (redrive) => {
    expect(made({ redrive })).not.toThrow();
  });

  it.each<[object, RegExp]>([
    [{ concurrency: 0 }, /redrive: concurrency: expected a whole number from 1 to 1,?000/],
    [{ concurrency: 1_001 }, /redrive: concurrency/],
    [{ leaseFor: 999 }, /redrive: leaseFor: .*1,?000/],
    [{ leaseFor: 3_600_001 }, /redrive: leaseFor/],
    [{ defaultTenant: 5 }, /redrive: defaultTenant: /],
  ])('refuses for redrives %j', (redrive, problem) => {
    expect(made({ redrive })).toThrow(problem);
  });

  it.each([
    ...[{ concurrency: 1 }, { concurrency: 100 }, { pageSize: 1 }, { pageSize: 100_000 }],
    ...[{ tenant: TENANT }, { recordings: true }, { newestFirst: true }],
    ...[{ fieldNames: { endedAt: 'end' } }, { query: () => ({}) }, { toEvents: () => [] }],
  ])('takes for reconcile runs %j', (more) => {
    expect(made({ reconcile: { client, ...more } })).not.toThrow();
  });

  it.each<[object, RegExp]>([
    [{ concurrency: 101 }, /reconcile: concurrency: expected a whole number from 1 to 100/],
    [{ pageSize: 0 }, /reconcile: pageSize/],
    [{ pageSize: 100_001 }, /reconcile: pageSize/],
    [{ tenant: `${TENANT}a` }, /reconcile: tenant: expected the name of a tenant, 1 to 128/],
    [{ tenant: '' }, /reconcile: tenant/],
    [{ recordings: 'yes' }, /reconcile: recordings/],
    [{ newestFirst: 1 }, /reconcile: newestFirst/],
    [{ query: {} }, /reconcile: query/],
    [{ toEvents: [] }, /reconcile: toEvents/],
    [{ client: undefined }, /reconcile: client/],
  ])('refuses for reconcile runs %j', (more, problem) => {
    expect(made({ reconcile: { client, ...more } })).toThrow(problem);
  });

  it.each([
    ...[{ origin: 'https://ops.example.com' }, { origin: 'http://localhost:3000' }],
    ...[{ signIn: '/' }, { signIn: '/login?next=/ops' }, { signIn: 'https://id.test/in?a=b' }],
    ...[{ path: '/ops' }, { path: '/ops/webhooks/' }, { readOnly: true }, { readOnly: false }],
    ...[{ onAction: () => undefined }, { deadLetters: memoryDeadLetters() }],
  ])('takes %j', (options) => {
    expect(made(options)).not.toThrow();
  });

  it.each<[object, RegExp]>([
    [{ origin: 'ops.example.com' }, /origin: expected an origin, such as/],
    [{ origin: 'https://ops.example.com/' }, /origin: /],
    [{ origin: 'ftp://ops.example.com' }, /origin: /],
    [{ signIn: 'login' }, /signIn: expected a path or a URL/],
    [{ signIn: '/\\evil.test' }, /signIn: /],
    [{ signIn: '/log in' }, /signIn: /],
    [{ path: 'ops' }, /path: /],
    [{ readOnly: 'no' }, /readOnly: /],
    [{ onAction: 'log' }, /onAction: /],
    [{ logger: {} }, /logger: /],
    [{ deadLetters: {} }, /deadLetters: /],
    [
      {
        deadLetters: { list: jest.fn(), get: jest.fn(), remove: jest.fn(), count: jest.fn() },
      },
      /deadLetters: expected a dead-letter store, or the dead jobs of a queue/,
    ],
    [{ authorize: true }, /authorize is missing. Pass a function/],
  ])('refuses %j', (options, problem) => {
    expect(made(options)).toThrow(problem);
  });

  it('needs no options beside a receiver and who may use it', async () => {
    const { get } = open({ deadLetters: undefined, logger: undefined, clock: undefined });
    expect(await get<Session>('/api/session')).toMatchObject({
      ...{ canWrite: true, readOnly: false, signIn: null, deadLetters: null },
      ...{ reconcile: false, reconcileTenant: null, log: true, canForget: true },
    });
  });
});

describe('a redrive', () => {
  it('claims a letter for as long as the option says, and 60 s without it', async () => {
    for (const [redrive, leaseMs] of [
      [{ leaseFor: 7_000 }, 7_000],
      [{}, 60_000],
    ] as const) {
      const opened = open({ receiving: { on: failing, maxAttempts: 1 }, redrive });
      await opened.deliver(callBody('c1'));
      const claim = jest.spyOn(opened.deadLetters, 'claim');
      await opened.post('/api/redrive', { all: true, waitMs: 20_000 });
      expect(claim.mock.calls.map(([, { leaseMs: ms }]) => ms)).toEqual([leaseMs]);
    }
  });

  it.each([
    ['acme', { handled: 1, skipped: 0 }],
    [undefined, { handled: 0 }],
  ])('runs letters without a tenant as those of the tenant %p', async (defaultTenant, counts) => {
    const deadLetters = memoryDeadLetters();
    await deadLetters.put({
      ...{ reason: 'handler-failed', eventName: 'call:completed', callId: 'c1', attempt: 1 },
      ...{ webhookId: 'w1', key: 'c1:call:completed', source: 'webhook', error: undefined },
      ...{ timestamp: new Date(NOW), failedAt: new Date(NOW), errorText: 'no' },
      rawBody: new TextEncoder().encode(callBody('c1')),
    });
    const ran: unknown[] = [];
    const { post } = open({
      receiving: {
        ...{ tenant: () => 'acme', secret: () => generateSecret() },
        on: { 'call:completed': (_event, { tenant }) => void ran.push(tenant) },
      },
      ...{ deadLetters, redrive: { defaultTenant } },
    });
    const tasks = await post<Tasks>('/api/redrive', { all: true, waitMs: 20_000 });
    expect(tasks.redrive?.counts).toMatchObject(counts);
    expect(ran).toEqual(defaultTenant === undefined ? [] : ['acme']);
  });
});

describe('a reconcile run', () => {
  /** A dry run of the calls of a service: what was found, and what was asked for. */
  async function dryRun(more: Partial<ConsoleReconcile>) {
    const simulator = await startSimulator({
      ...{ clock: 'manual', seed: 1, startAt: NOW, timestamps: 'clock' },
    });
    closeLater(() => simulator.close());
    const now = () => simulator.clock.now();
    const own = createClient({ baseUrl: simulator.url, apiToken: simulator.apiToken });
    const asked: unknown[] = [];
    const calls = {
      recording: own.calls.recording.bind(own.calls),
      list(...given: Parameters<typeof own.calls.list>) {
        asked.push(given[0]);
        return own.calls.list(...given);
      },
    };
    const store = storeWithClock(now);
    await simulator.clock.advance('10m');
    const since = now();
    const { post } = open({
      ...{ reconcile: { client: { baseUrl: own.baseUrl, calls }, ...more } },
      ...{ clock: { ...systemClock, now }, receiving: { store, now } },
    });
    for (let made = 0; made < 3; made += 1)
      simulator.calls.place({ durationSeconds: 20, recorded: true });
    await simulator.clock.advance('30m');
    const tasks = await post<Tasks>('/api/reconcile', { dryRun: true, since, waitMs: 20_000 });
    const task = tasks.reconcile as ReconcileTask;
    return { task, names: task.events.map(({ eventName }) => eventName).sort(), asked };
  }

  it('finds the events that its options make', async () => {
    const completed = 'call:completed';
    expect((await dryRun({})).names).toEqual([completed, completed, completed]);
    const toEvents: ConsoleReconcile['toEvents'] = ({ _id: callId }) => [
      { eventName: 'crm:closed', callId, eventId: `crm:${callId}` },
    ];
    expect((await dryRun({ toEvents })).names).toEqual(['crm:closed', 'crm:closed', 'crm:closed']);
    const recording = 'call:recording-available';
    expect((await dryRun({ recordings: true })).names).toEqual([
      ...[completed, completed, completed, recording, recording, recording],
    ]);
  });

  it('asks for calls as its options say', async () => {
    const query = () => ({ marked: 'yes' });
    const plain = JSON.stringify((await dryRun({})).asked);
    const own = JSON.stringify((await dryRun({ query, pageSize: 2 })).asked);
    expect([plain.includes('marked'), own.includes('"marked":"yes"')]).toEqual([false, true]);
    expect([plain.includes('"limit":2'), own.includes('"limit":2')]).toEqual([false, true]);
  });
});
