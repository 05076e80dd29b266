import { describe, expect, test } from '@jest/globals';
import { generateSecret, type Store } from '@call-webhooks/core';
import { fill, setup } from './support/dead-letters.ts';
import { run } from './support/run.ts';

const redrive = ['dead-letters', 'redrive'];

/** What the store answers for an event. */
async function admitted(store: Store, key: string): Promise<string> {
  const claim = { key, token: 'asked', webhookId: 'asked', replayUntil: Date.now() };
  return (await store.admit({ ...claim, leaseMs: 60_000 })).status;
}

describe('dead-letters redrive with tenants', () => {
  const secrets: Record<string, string> = { acme: generateSecret(), globex: generateSecret() };
  /** One letter of each tenant and one of none, and a receiver that knows the tenants by the path. */
  async function twoTenants() {
    const ran: unknown[] = [];
    const made = await setup({
      tenant: ({ path }) => path.split('/')[2],
      secret: ({ tenant }) => secrets[tenant],
      on: { 'call:completed': ({ callId }, { tenant }) => void ran.push([tenant, callId]) },
    });
    for (const tenant of ['acme', 'globex']) {
      const callId = `call-of-${tenant}`;
      const rawBody = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
      const key = `tenant:${tenant}:${callId}:call:completed`;
      await fill(made, 1, { tenant, callId, key, rawBody });
    }
    await fill(made, 1, { callId: 'call-of-nobody' });
    const { letters } = await made.deadLetters.list();
    const letterOf = (name?: string) => letters.find(({ tenant }) => tenant === name)!;
    const to = (tenant: string) => ['--to', made.url.replace('/hook', `/hooks/${tenant}`)];
    const argv = (tenant: string) => [...to(tenant), '--secret', secrets[tenant]!];
    return { ...made, ran, letterOf, argv };
  }

  test('sends only the letters of --tenant, and leaves all others as they were', async () => {
    const { deadLetters, store, env, ran, letterOf, argv } = await twoTenants();
    const ofAcme = [...redrive, ...argv('acme'), '--tenant', 'acme'];
    const [globex, nobody] = [letterOf('globex'), letterOf()];
    const byId = await run([...ofAcme, globex.id, nobody.id], { env });
    expect(byId).toMatchObject({ code: 0, stdout: '0 handled, 0 failed, 2 skipped\n' });
    const { code, stdout } = await run(ofAcme, { env });
    expect({ code, stdout }).toEqual({ code: 0, stdout: '1 handled, 0 failed, 0 skipped\n' });
    expect(ran).toEqual([['acme', 'call-of-acme']]);
    expect(byId.stderr.trim().split('\n').sort()).toEqual(
      [
        `${globex.id.slice(0, 8)}  skipped: it belongs to tenant globex; pass --tenant globex with its own --to and --secret`,
        `${nobody.id.slice(0, 8)}  skipped: it belongs to no tenant; leave out --tenant`,
      ].sort(),
    );
    expect(await deadLetters.get(globex.id)).toEqual(globex);
    expect(await deadLetters.get(nobody.id)).toEqual(nobody);
    expect(await deadLetters.count()).toBe(2);
    for (const { key = '' } of [globex, nobody])
      expect(await admitted(store, key)).toBe('dead-lettered');
  });

  test('without --tenant, skips letters that have one, also by their ids', async () => {
    const { deadLetters, env, ran, letterOf, argv } = await twoTenants();
    const ids = [letterOf('acme').id, letterOf('globex').id];
    const { code, records } = await run([...redrive, ...ids, ...argv('acme'), '--json'], { env });
    expect(code).toBe(0);
    expect(records()).toMatchObject([
      { type: 'letter', id: ids[0], result: 'skipped', tenant: 'acme' },
      { type: 'letter', id: ids[1], result: 'skipped', tenant: 'globex' },
      { type: 'result', handled: 0, skipped: 2 },
    ]);
    expect(ran).toEqual([]);
    expect(await deadLetters.count()).toBe(3);
  });

  test('list and show tell the tenant', async () => {
    const { env, letterOf } = await twoTenants();
    const listed = await run(['dead-letters', 'list'], { env });
    expect(listed.stdout).toMatch(/^failed +id +tenant +event +error/);
    expect(listed.stdout).toMatch(/ globex +call:completed /);
    const ofGlobex = await run(['dead-letters', 'list', '--tenant', 'globex', '--json'], { env });
    expect(ofGlobex.records()).toMatchObject([{ tenant: 'globex' }]);
    const shown = await run(['dead-letters', 'show', letterOf('globex').id], { env });
    expect(shown.stdout).toMatch(/^tenant +globex$/m);
  });
});
