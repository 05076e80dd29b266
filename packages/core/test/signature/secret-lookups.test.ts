import { expect, it, jest } from '@jest/globals';
import type { SecretProvider } from '../../src/index.ts';
import { PROVIDER_TIMEOUT_MS } from '../../src/signature/secret-provider.ts';
import { SecretLookups } from '../../src/signature/tenants.ts';
import { DeadlineScheduler } from '../../src/time.ts';
import { useLateClock } from '../late-clock.ts';

useLateClock();

it('a lookup that waited until its time was up asks nobody: its delivery is answered already', async () => {
  const provider = jest.fn<SecretProvider>(() => new Promise<never>(() => undefined));
  const lookups = new SecretLookups(provider, new DeadlineScheduler());
  const settled = Promise.allSettled(
    Array.from({ length: 150 }, () =>
      lookups.ask({ tenant: 'real-a', webhookId: 'webhook', refresh: false }, false),
    ),
  );
  await jest.advanceTimersByTimeAsync(PROVIDER_TIMEOUT_MS - 1);
  expect(provider).toHaveBeenCalledTimes(100); // so many run at once
  await jest.advanceTimersByTimeAsync(1);
  for (const one of await settled)
    expect(one).toMatchObject({ status: 'rejected', reason: { name: 'TimeoutError' } });
  expect(provider).toHaveBeenCalledTimes(100);
});
