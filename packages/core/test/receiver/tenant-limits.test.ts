import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InFlight } from '../../src/in-flight.ts';
import { deferred } from '../support.ts';
import { createTenantsReceiver, secretOf } from '../tenants-support.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const hung = (tenant: string) => ({
  ...{ place: 0, startedAt: performance.now(), tenant, isWaiting: false },
  abandon: () => Promise.resolve(),
});

describe('the limit of a tenant', () => {
  it('is reached by its own deliveries alone', () => {
    const inFlight = new InFlight(10, 2);
    inFlight.add(hung('a'));
    const running = hung('a');
    inFlight.add(running);
    expect(() => inFlight.add(hung('a'))).toThrow('maxInFlightPerTenant');
    inFlight.add(hung('b'));
    inFlight.remove(running);
    inFlight.add(hung('a'));
    expect(() => inFlight.add(hung('a'))).toThrow('2 deliveries of this tenant');
    inFlight.add({ ...hung('b'), isWaiting: true }); // waits for a group of its own tenant
    expect(() => inFlight.add(hung('a'))).toThrow('2 deliveries of this tenant');
  });

  it('is beside the limit of the receiver', () => {
    const inFlight = new InFlight(3, 2);
    for (const tenant of ['a', 'b', 'c']) inFlight.add(hung(tenant));
    expect(() => inFlight.add(hung('d'))).toThrow('(maxInFlight)');
  });

  it('frees the places of handlers that never end when their leases have expired', () => {
    const inFlight = new InFlight(10, 1);
    inFlight.add(hung('a'));
    expect(() => inFlight.add(hung('a'))).toThrow('maxInFlightPerTenant');
    jest.advanceTimersByTime(280_000);
    inFlight.add(hung('a'));
    expect(() => inFlight.add(hung('a'))).toThrow('maxInFlightPerTenant');
  });

  it('is not used up by events that wait for their group', async () => {
    const isFree = deferred();
    const { send } = createTenantsReceiver({
      ...{ secret: ({ tenant }) => secretOf(tenant), maxInFlightPerTenant: 2, oneAtATime: true },
      on: {
        'call:started': ({ callId }) => (callId === 'a' ? isFree.promise : undefined),
        'call:completed': () => undefined,
      },
    });
    const first = send('acme', { eventName: 'call:started', callId: 'a' });
    await jest.advanceTimersByTimeAsync(0);
    const second = send('acme', { eventName: 'call:completed', callId: 'a' });
    await jest.advanceTimersByTimeAsync(0);
    expect(await send('acme', { eventName: 'call:started', callId: 'b' })).toBe('handled');
    isFree.resolve();
    await jest.advanceTimersByTimeAsync(600);
    expect(await Promise.all([first, second])).toEqual(['handled', 'handled']);
  });

  it('answers 503 to a flood of one tenant, while others are handled', async () => {
    const isFree = deferred();
    let running = 0;
    const { send, logger } = createTenantsReceiver({
      secret: ({ tenant }) => secretOf(tenant),
      maxInFlight: 20, // 2 of each tenant
      on: {
        'call:started': async (_event, { tenant }) => {
          running += 1;
          if (tenant === 'flood') await isFree.promise;
        },
      },
    });
    const call = (index: number) => ({ eventName: 'call:started', callId: `c${String(index)}` });
    const flood = Array.from({ length: 50 }, (_, index) => send('flood', call(index)));
    // All but two have been answered once this has been.
    while (running < 2) await Promise.resolve();
    for (let index = 0; index < 50; index++)
      expect(await send('other', call(index))).toBe('handled');
    isFree.resolve();
    const outcomes = await Promise.all(flood);
    expect(outcomes.filter((outcome) => outcome === 'handled')).toHaveLength(2);
    expect(outcomes.filter((outcome) => outcome === 'overloaded')).toHaveLength(48);
    expect(logger.entries).toHaveLength(1); // one line in 10 s
    expect(await send('flood', call(0))).toBe('duplicate');
  });

  it('needs tenants', () => {
    const options = { secret: secretOf('a'), tenant: undefined, maxInFlightPerTenant: 5 };
    expect(() => createTenantsReceiver(options)).toThrow(
      'maxInFlightPerTenant: it has no effect without tenant',
    );
  });
});
