import { describe, expect, test } from '@jest/globals';
import {
  AVAILABLE,
  COMPLETED,
  IN_LETTERS,
  service,
  warning,
} from './support/reconciled-service.ts';

describe('what a run records as done in the store, for status', () => {
  const NO_LOG = 'no receiver has written to the log of this store. Check --store and --prefix.';

  test.each([
    [[], { [COMPLETED]: true }],
    [['--recordings'], { [COMPLETED]: true, [AVAILABLE]: true }],
  ])('with %j are the events that it looked for, in its window', async (flags, names) => {
    const { window, since, until, to, at, failing, reconcile, isLogged, covered } = await service();
    failing.clear();
    const early = await reconcile(...window, ...to, ...at);
    expect(early.stderr).toBe(IN_LETTERS + warning(NO_LOG));
    expect(await covered()).toBeNull();
    await isLogged();
    expect(await reconcile(...window, ...to, ...at, ...flags)).toMatchObject({
      ...{ code: 0, stderr: IN_LETTERS },
    });
    const span = { since: since.getTime(), until: until.getTime() };
    expect(await covered()).toEqual(
      Object.fromEntries(Object.keys(names).map((name) => [name, [span]])),
    );
  });

  test.each([
    ['an event failed', [], [], 'not all events were handled.'],
    [
      'it has another prefix',
      ['--prefix', 'other_'],
      ['clear'],
      /no table name starts with other_: |Check/,
    ],
    [
      'the receiver has no tenants, and one is named',
      ['--tenant', 'acme'],
      ['clear'],
      'The store has no deliveries for tenant acme. If the name is wrong, every event will look missed.',
    ],
    [
      'the store cannot be opened',
      ['--store', 'sqlite:no-such.db'],
      ['clear'],
      'There is no file no-such.db. Check the path.',
    ],
  ])('is nothing if %s', async (_why, flags, how, told) => {
    const { window, to, at, failing, reconcile, isLogged, covered } = await service();
    if (how.includes('clear')) failing.clear();
    await reconcile(...window, ...to);
    await isLogged();
    const { stdout, stderr } = await reconcile(...window, ...to, ...at, ...flags);
    expect(stdout).toMatch(/^4 calls: /);
    const [, why = ''] = /so status may still ask for it: (.*)\n$/.exec(stderr) ?? [];
    if (typeof told === 'string') expect(why).toBe(told);
    else expect(why).toMatch(told);
    expect(await covered()).toBeNull();
  });
});
