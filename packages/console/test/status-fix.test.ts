import { expect, it } from '@jest/globals';
import { counterName } from '@call-webhooks/core/stores';
import type { Overview } from '../src/api-types.ts';
import { NOW, open, storeWithClock, wrote } from './support.ts';

const HOUR = 3_600_000;

it('the command of a fix names the tenant that it is about', async () => {
  const store = { ...storeWithClock(() => NOW), rememberFor: 24 * HOUR };
  const { get, log } = open({ receiving: { store } });
  const failed = (tenant: string) => counterName('failed', tenant, 'call:completed', 'blue');
  await wrote(log, [], { marks: { [failed('acme')]: NOW - HOUR, [failed('globex')]: NOW - HOUR } });
  const { status } = await get<Overview>('/api/overview');
  expect(status.groups).toMatchObject([
    { fix: expect.stringContaining('Z --tenant acme --to URL`'), items: [{ tenant: 'acme' }] },
    { fix: expect.stringContaining('Z --tenant globex --to URL`'), items: [{ tenant: 'globex' }] },
  ]);
});
