import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from '@jest/globals';
import {
  serveLocally,
  startSender,
  waitFor,
  type DeliveryOptions,
} from '@call-webhooks/contract-tests';
import { generateSecret } from '@call-webhooks/core';
import { startSimulator } from '@call-webhooks/simulator';
import type {
  CallTimeline,
  DeadLettersPage,
  DeliveriesPage,
  DeliveryDetail,
  Overview,
  Tasks,
} from '../src/api-types.ts';
import type { AppOptions } from './support-app.ts';
import { callBody, closeLater } from './support.ts';

const APP = fileURLToPath(new URL('support-app.ts', import.meta.url));
const SOURCES = ['--import', 'tsx', '--conditions=@call-webhooks/source'];
const AT_ONCE = 16;

/** Starts a receiver with a console in a process of its own. */
async function startApp(options: AppOptions) {
  const child: ChildProcess = spawn(process.execPath, [...SOURCES, APP, JSON.stringify(options)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await exited;
  };
  closeLater(kill);
  if (!child.stdout) throw new Error('The app has no output.');
  let origin = '';
  for await (const line of createInterface(child.stdout)) {
    const [, port] = /^port (\d+)$/.exec(line) ?? [];
    if (port !== undefined) origin = `http://127.0.0.1:${port}`;
    if (origin !== '') break;
  }
  const json = { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' };
  const ask = async <T>(path: string, init?: RequestInit) =>
    (await fetch(`${origin}${path}`, init)).json() as Promise<T>;
  const send = <T>(path: string, body: object) =>
    ask<T>(path, { method: 'POST', headers: json, body: JSON.stringify(body) });
  return {
    ...{ origin, pid: child.pid, kill },
    get: <T>(path: string) => ask<T>(`/ops/webhooks/api${path}`),
    post: <T>(path: string, body: object) => send<T>(`/ops/webhooks/api${path}`, body),
    tell: (orders: object) => send('/orders', orders),
  };
}

/** Three processes behind a balancer, and a service that reaches them through a proxy. */
async function startAll(engine: string, url: string) {
  const simulator = await startSimulator({
    ...{ clock: 'manual', seed: 1, startAt: Date.now() - 2 * 3_600_000 },
  });
  closeLater(() => simulator.close());
  const secret = generateSecret();
  const service = { baseUrl: simulator.url, apiToken: simulator.apiToken };
  const apps: Awaited<ReturnType<typeof startApp>>[] = [];
  for (let started = 0; started < 3; started += 1)
    apps.push(await startApp({ secret, engine, url, service }));

  let next = 0;
  const lost = new Set<string>();
  const balancer = await serveLocally((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      const { callId } = JSON.parse(body.toString()) as { callId: string };
      // A proxy that says that all is well.
      if (lost.has(callId)) return void response.end('{}');
      const { origin = '' } = apps[next++ % apps.length] ?? {};
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => !/^(?:connection|host)$/.test(name)),
      ) as Record<string, string>;
      void fetch(`${origin}/hook`, { method: 'POST', headers, body }).then(async (answer) => {
        const type = answer.headers.get('content-type') ?? 'text/plain';
        response.writeHead(answer.status, { 'content-type': type }).end(await answer.text());
      });
    });
  });
  closeLater(balancer.close);
  return { simulator, secret, apps, lost, hook: `${balancer.origin}/hook` };
}

/** Sends so many deliveries of all kinds. @returns how many there were of each outcome */
async function sendMixed(
  hook: string,
  secret: string,
  wanted: number,
): Promise<Record<string, number>> {
  const sender = startSender(hook, secret);
  const outcomes: Record<string, number> = {};
  const post = async (callId: string, options?: DeliveryOptions) => {
    const { outcome = 'none' } = await sender.post(callBody(callId), options);
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  };
  let made = 0;
  const lane = async () => {
    while (made < wanted) {
      const nth = made++;
      const callId = `call-${String(nth)}`;
      const webhookId = `w-${String(nth)}`;
      if (nth % 20 === 5) await post(callId, { secret: generateSecret() });
      else if (nth % 50 === 7) await post(`broken-${String(nth)}`);
      else if (nth % 10 === 3 && nth + 1 < wanted) {
        made += 1; // two for this one
        await post(callId, { webhookId });
        if (nth % 20 === 3) await post(callId);
        else await post(callId, { webhookId });
      } else await post(callId);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return outcomes;
}

const totalOf = (counts: Record<string, number>) =>
  Object.values(counts).reduce((sum, count) => sum + count, 0);

/**
 * Three processes behind a balancer, which share a store: all show the same, and it is exact.
 * @param deliveries how many are sent
 */
export async function oneTruth(engine: string, url: string, deliveries: number): Promise<void> {
  const { simulator, secret, apps, lost, hook } = await startAll(engine, url);
  const [first, second, third] = apps as [(typeof apps)[0], (typeof apps)[0], (typeof apps)[0]];
  const sources = async (app: (typeof apps)[0]) =>
    (await app.get<Overview>('/overview')).log?.day.sources ?? {};
  const webhooks = async (app: (typeof apps)[0]) => (await sources(app)).webhook?.outcomes;

  // Every outcome is counted once, whichever process had it, and all say the same.
  const sent = await sendMixed(hook, secret, deliveries);
  expect(totalOf(sent)).toBe(deliveries);
  expect(Object.keys(sent).sort()).toEqual(
    ['dead-lettered', 'duplicate', 'handled', 'replayed', 'signature-mismatch'].sort(),
  );
  await waitFor(async () => totalOf((await webhooks(first)) ?? {}) === deliveries);
  for (const app of apps) {
    await waitFor(async () => totalOf((await webhooks(app)) ?? {}) === deliveries);
    expect(await webhooks(app)).toEqual(sent);
    const { log } = await app.get<Overview>('/overview');
    expect(log?.secrets).toMatchObject([
      { id: 'new', isConfigured: true, verified: deliveries - (sent['signature-mismatch'] ?? 0) },
      { id: 'old', isConfigured: true, verified: 0, lastAt: null },
    ]);
    expect(new Set(log?.processes.map(({ pid }) => pid))).toEqual(
      new Set(apps.map(({ pid }) => pid)),
    );
    const page = await app.get<DeliveriesPage>('/deliveries');
    expect(page).toEqual(await first.get<DeliveriesPage>('/deliveries'));
    const { id = '' } = page.deliveries[0] ?? {};
    const detail = await app.get<DeliveryDetail>(`/deliveries/${encodeURIComponent(id)}`);
    expect(detail.deliveries[0]).toEqual(page.deliveries[0]);
    const { events } = await app.get<CallTimeline>('/calls/call-3');
    expect(events[1]?.state).toBe('handled');
    const { causes, total } = await app.get<DeadLettersPage>('/dead-letters');
    expect(causes).toMatchObject([{ text: 'Error: no contact …', count: sent['dead-lettered'] }]);
    expect(total).toBe(sent['dead-lettered']);
  }

  // A redrive is shown by all, and is not lost with its process.
  const sender = startSender(hook, secret);
  await sender.post(callBody('broken-stuck'));
  const dead = 1 + (sent['dead-lettered'] ?? 0);
  for (const app of apps) await app.tell({ broken: false, stuck: true });
  await first.post<Tasks>('/redrive', { all: true });
  // All but the one that is stuck, which is the newest.
  const redriven = async () => (await second.get<Tasks>('/tasks')).redrive;
  await waitFor(async () => (await redriven())?.counts.handled === dead - 1);
  expect(await redriven()).toMatchObject({ state: 'running', total: dead });
  expect(await third.post('/redrive', { all: true })).toMatchObject({
    error: { code: 'already-running' },
  });
  await waitFor(async () => (await sources(second)).redrive?.total === dead - 1);
  await first.kill();
  apps.shift();
  await waitFor(async () => (await redriven())?.state === 'lost');
  expect(await second.post<Tasks>('/redrive', { all: true, waitMs: 20_000 })).toMatchObject({
    // Nobody knows yet whether the process that had its lease is gone.
    redrive: { state: 'done', total: 1, counts: { skipped: 1 } },
  });
  expect((await third.get<Tasks>('/tasks')).redrive).toEqual(await redriven());

  // A dry run names exactly the calls that a proxy lost.
  simulator.rules.create({
    ...{ trigger: 'call:completed', scope: 'workspace', actions: [{ url: hook, secret }] },
  });
  const calls: string[] = [];
  for (let placed = 0; placed < 24; placed += 1) {
    const { _id } = simulator.calls.place({ durationSeconds: 20, recorded: false });
    if (placed % 6 === 1) lost.add(_id);
    calls.push(_id);
    await simulator.clock.advance('1m');
  }
  const since = Date.now() - 3 * 3_600_000;
  await second.post('/reconcile', { dryRun: true, since, waitMs: 20_000 });
  const { reconcile } = await third.get<Tasks>('/tasks');
  expect(reconcile).toMatchObject({
    ...{ state: 'done', counts: { seen: 24, missed: 4, known: 20 } },
  });
  const missed = reconcile?.events.filter((event) => event.missed).map(({ callId }) => callId);
  expect(new Set(missed)).toEqual(lost);
  await third.post('/reconcile', { dryRun: false, since, waitMs: 20_000 });
  expect((await second.get<Tasks>('/tasks')).reconcile).toMatchObject({
    ...{ state: 'done', counts: { missed: 4, handled: 4, known: 20 } },
  });

  // And the counts of each source are exact, a killed process and all.
  const expected = {
    webhook: deliveries + 1 + 20,
    redrive: dead, // with the one whose lease nobody may take
    reconcile: 24,
  };
  for (const app of apps) {
    const totals = async () =>
      Object.fromEntries(
        Object.entries(await sources(app)).map(([source, counts]) => [source, counts.total]),
      );
    await waitFor(async () => totalOf(await totals()) === totalOf(expected));
    expect(await totals()).toEqual(expected);
    const { log } = await app.get<Overview>('/overview');
    expect(log?.processes).toHaveLength(3);
  }
}
