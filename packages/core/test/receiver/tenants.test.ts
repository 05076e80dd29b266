import { describe, expect, it, jest } from '@jest/globals';
import {
  memoryStore,
  type ErrorInfo,
  type HandlerContext,
  type SecretProvider,
  type Store,
} from '../../src/index.ts';
import type { Claim } from '../../src/stores.ts';
import { deferred, STARTED } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

const secret: SecretProvider = ({ tenant }) => (tenant === 'nobody' ? undefined : secretOf(tenant));
const on = { 'call:started': () => undefined };

/** A store that keeps the claims it was asked for. */
function recording(): { store: Store; claims: Claim[] } {
  const inner = memoryStore();
  const claims: Claim[] = [];
  const admit: Store['admit'] = (claim) => {
    claims.push(claim);
    return inner.admit(claim);
  };
  return { store: { ...inner, admit }, claims };
}

describe('a receiver with tenants', () => {
  it('lets each of 1,000 tenants in with its own secret, and nobody into another one', async () => {
    const provider = jest.fn<SecretProvider>(secret);
    const seen = new Set<string>();
    const store = memoryStore();
    const { send } = createTenantsReceiver({
      secret: provider,
      store,
      on: { 'call:started': (_event, { tenant = '' }) => void seen.add(tenant) },
    });
    const names = Array.from({ length: 1_000 }, (_, index) => `tenant-${String(index)}`);
    const sendAll = async (all: string[]) => {
      const outcomes = new Set<string>();
      for (let at = 0; at < all.length; at += 200)
        for (const outcome of await Promise.all(
          all.slice(at, at + 200).map((name) => send(name, STARTED)),
        ))
          outcomes.add(outcome);
      return outcomes;
    };
    expect(await sendAll(names)).toEqual(new Set(['handled'])); // equal call ids of all of them
    expect(seen.size).toBe(1_000);
    expect(provider).toHaveBeenCalledTimes(1_000);

    const neighbours = names
      .slice(0, 50)
      .map((name, index) => send(name, STARTED, { secret: secretOf(names[index + 1] as string) }));
    expect(new Set(await Promise.all(neighbours))).toEqual(new Set(['signature-mismatch']));
    // All of them are still known.
    expect(await sendAll(names)).toEqual(new Set(['duplicate']));
    expect(provider.mock.calls.length).toBeLessThanOrEqual(1_050);
  });

  it('handles equal calls and webhook ids of two tenants, and only their own duplicates', async () => {
    const { send } = createTenantsReceiver({ secret, on });
    expect(await send('a', STARTED, { webhookId: 'same' })).toBe('handled');
    expect(await send('b', STARTED, { webhookId: 'same' })).toBe('handled');
    expect(await send('a', STARTED, { webhookId: 'same' })).toBe('replayed');
    expect(await send('a', STARTED)).toBe('duplicate');
    expect(await send('b', STARTED)).toBe('duplicate');
    const withoutKey = { eventName: 'call:teleported' };
    expect(await send('a', withoutKey, { webhookId: 'other' })).toBe('ignored');
    expect(await send('b', withoutKey, { webhookId: 'other' })).toBe('ignored');
    expect(await send('a', withoutKey, { webhookId: 'other' })).toBe('replayed');
  });

  it('has the tenant in all that the store is asked', async () => {
    const { store, claims } = recording();
    const { send } = createTenantsReceiver({ secret, on, store, oneAtATime: true });
    await send('a:b', STARTED, { webhookId: 'id' });
    expect(claims).toMatchObject([
      {
        webhookId: 'tenant:a%3Ab:id',
        key: 'tenant:a%3Ab:call-1:call:started',
        group: 'tenant:a%3Ab:call-1',
      },
    ]);
  });

  it('has a key of its own for an event that is known by its webhook id', async () => {
    const { store, claims } = recording();
    const options = { secret, store, oneAtATime: () => 'all', on: { 'call:started': () => 1 } };
    const { send } = createTenantsReceiver(options);
    await send('a', { eventName: 'call:started' }, { webhookId: 'id' });
    expect(claims).toMatchObject([{ key: 'tenant:a:webhook-id:id', group: 'tenant:a:all' }]);
  });

  it('lets one event of a group run at a time, of each tenant', async () => {
    const isEntered = deferred();
    const isFree = deferred();
    const { send } = createTenantsReceiver({
      secret,
      oneAtATime: true,
      on: {
        'call:started': async (_event, { tenant }) => {
          if (tenant !== 'a') return;
          isEntered.resolve();
          await isFree.promise;
        },
      },
    });
    const first = send('a', STARTED);
    await isEntered.promise;
    expect(await send('b', STARTED)).toBe('handled');
    isFree.resolve();
    expect(await first).toBe('handled');
  });

  it('names the tenant to the handler, in outcomes, log lines and to onError', async () => {
    const contexts: HandlerContext[] = [];
    const infos: ErrorInfo[] = [];
    const { send, outcomes, logger } = createTenantsReceiver({
      secret,
      on: {
        'call:started': (_event, context) => {
          contexts.push({ ...context });
          throw new Error('down');
        },
      },
      onError: (_error, info) => infos.push(info),
    });
    expect(await send('acme', STARTED)).toBe('handler-failed');
    expect(contexts).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
    expect(outcomes).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
    expect(logger.entries).toMatchObject([{ fields: { tenant: 'acme' } }]);
    expect(infos).toMatchObject([{ tenant: 'acme', key: 'tenant:acme:call-1:call:started' }]);
  });

  it('names the tenant in every outcome, also before the request is verified', async () => {
    const { receiver, post, outcomes } = createTenantsReceiver({ secret, bodyLimit: 1_000 });
    const url = '/hooks/acme';
    await receiver.receive({ method: 'GET', url, headers: {}, body: new Uint8Array() });
    await receiver.receive({ url, headers: {}, body: new Uint8Array(2_000) });
    await receiver.receive({ url, headers: {}, body: new Uint8Array() });
    await post('acme', STARTED, { secret: secretOf('other') });
    await post('acme', STARTED);
    expect(outcomes.map(({ outcome, tenant }) => [outcome, tenant])).toEqual([
      ['method-not-allowed', 'acme'],
      ['body-too-large', 'acme'],
      ['missing-header', 'acme'],
      ['signature-mismatch', 'acme'],
      ['ignored', 'acme'],
    ]);
  });

  it('keeps what is personal out of a name that nobody verified', async () => {
    const { post, outcomes, logger } = createTenantsReceiver({ secret });
    await post('anna@example.com', STARTED, { secret: secretOf('other') });
    expect(JSON.stringify([outcomes, logger.entries])).not.toContain('anna@');
    await post('anna@example.com', STARTED);
    expect(outcomes.at(-1)?.tenant).toBe('anna@example.com');
  });

  it('does not ask for the secrets of nobody to see whether it is healthy', async () => {
    const provider = jest.fn<SecretProvider>(secret);
    const { receiver } = createTenantsReceiver({ secret: provider });
    const health = await receiver.health();
    expect(health).toMatchObject({ ok: true });
    expect(health).not.toHaveProperty('secrets');
    expect(provider).not.toHaveBeenCalled();
  });

  it('needs a provider of secrets', () => {
    expect(() => createTenantsReceiver({ secret: secretOf('a') })).toThrow('expected a function');
  });
});
