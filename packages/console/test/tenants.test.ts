import { beforeEach, describe, expect, it } from '@jest/globals';
import { createReceiver, generateSecret, sign } from '@call-webhooks/core';
import type { CallsClient } from '@call-webhooks/recovery';
import type { DeadLettersPage, DeliveriesPage } from '../src/api-types.ts';
import { callBody, failing, open } from './support.ts';

// Two tenants have calls with the same ids, of the same person.

const TENANTS = ['acme', 'globex'] as const;
type Tenant = (typeof TENANTS)[number];

const ADA = { recipientName: 'Ada Lovelace', toPhoneNumber: '+491715550123' };
const EVENTS = ['c1', 'c2'];

async function withTenants() {
  const secret = generateSecret();
  const receiving = {
    ...{ on: failing, maxAttempts: 2, secret: () => secret },
    tenant: ({ path }: { path: string }) => path.slice(1),
  };
  const opened = open({ receiving });
  const { deadLetters, logger, log, store } = opened;
  // Another process got the deliveries, and has ended: all of its outcomes are written.
  const other = createReceiver({ ...receiving, store, deadLetter: deadLetters, logger });
  for (const tenant of TENANTS)
    for (const callId of EVENTS) {
      const body = new TextEncoder().encode(callBody(callId, 'call:completed', ADA));
      for (const attempt of [1, 2]) {
        const webhookId = `${tenant}-${callId}-${attempt}`;
        const headers = await sign({ secret, body, webhookId });
        await other.receive({ method: 'POST', url: `/${tenant}`, headers, body });
      }
    }
  await other.close();
  /** What a tenant has: its letters, its rows, and what the store knows of its events. */
  const had = async (tenant: Tenant) => ({
    letters: (await deadLetters.list({ tenant })).letters,
    rows: (await log.read()).rows.filter((row) => row.tenant === tenant),
    states: await store.peek?.(EVENTS.map((id) => `tenant:${tenant}:${id}:call:completed`)),
  });
  return { ...opened, had };
}

let console: Awaited<ReturnType<typeof withTenants>>;
beforeEach(async () => {
  console = await withTenants();
});

const OF_ACME = { tenant: 'acme' };

describe('a change that is about one tenant', () => {
  it.each([
    ['/api/redrive', { filter: OF_ACME }],
    ['/api/remove', { filter: OF_ACME }],
    ['/api/erase', { about: 'Ada Lovelace', ...OF_ACME }],
    ['/api/erase', { about: 'Ada Lovelace', ...OF_ACME, forgetKeys: true }],
  ])('%s leaves another one all that it has (%j)', async (path, body) => {
    const { had, post } = console;
    const [acme, globex] = [await had('acme'), await had('globex')];
    expect(globex).toMatchObject({
      ...{ letters: [{}, {}], rows: [{}, {}, {}, {}] },
      states: ['dead-lettered', 'dead-lettered'],
    });
    await post(path, { waitMs: 20_000, ...body });
    expect(await had('acme')).not.toEqual(acme);
    expect(await had('globex')).toEqual(globex);
  });

  it.each(['letters', 'rows', 'states'] as const)(
    'erases its %s, if its keys are to be forgotten as well',
    async (what) => {
      const { had, post } = console;
      await post('/api/erase', {
        about: ADA.toPhoneNumber,
        ...OF_ACME,
        forgetKeys: true,
        waitMs: 20_000,
      });
      const left = await had('acme');
      expect(left[what]).toEqual(what === 'states' ? [undefined, undefined] : []);
    },
  );
});

describe('what is asked of one tenant', () => {
  it.each([
    '/api/dead-letters?tenant=acme',
    '/api/deliveries?tenant=acme',
    '/api/deliveries?tenant=acme&result=failed',
    '/api/calls/c1?tenant=acme',
  ])('%s has what that one has, and nothing of another', async (path) => {
    const { tenants: _offered, ...answer } = await console.get<{ tenants?: string[] }>(path);
    expect(JSON.stringify(answer)).toContain('acme-c1');
    expect(JSON.stringify(answer)).not.toContain('globex');
  });

  it('counts its failures alone', async () => {
    const counted = async (query: string) =>
      (await console.get<{ causes: { count: number }[] }>(`/api/failures${query}`)).causes.map(
        ({ count }) => count,
      );
    expect(await counted('?tenant=acme')).toEqual([2]);
    expect(await counted('')).toEqual([4]);
  });

  it('finds a person in its letters alone', async () => {
    const found = async (more: object) => {
      const asked = { about: ADA.toPhoneNumber, ...more };
      const { letters } = await console.post<DeadLettersPage>('/api/dead-letters/search', asked);
      return letters.map(({ tenant }) => tenant).sort();
    };
    expect(await found(OF_ACME)).toEqual(['acme', 'acme']);
    expect(await found({})).toEqual(['acme', 'acme', 'globex', 'globex']);
  });

  it('offers every tenant to choose from', async () => {
    for (const path of ['/api/dead-letters', '/api/deliveries'])
      expect(await console.get<DeliveriesPage>(`${path}?tenant=acme`)).toMatchObject({
        tenants: ['acme', 'globex'],
      });
  });
});

it.each([undefined, 'acme'])(
  'the session says whose calls a reconcile run looks at (tenant: %s)',
  async (tenant) => {
    const client = { baseUrl: 'https://service.example', calls: {} } as CallsClient;
    const { get } = open({ reconcile: { client, ...(tenant !== undefined && { tenant }) } });
    expect(await get('/api/session')).toMatchObject({
      ...{ reconcile: true, reconcileTenant: tenant ?? null },
    });
  },
);
