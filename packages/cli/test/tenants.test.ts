import { describe, expect, test } from '@jest/globals';
import type { ListedDeadLetter } from '@call-webhooks/core/stores';
import type { OpenedStore } from '../src/store/engine.ts';
import { plainText, type ToldStatus, withFlags } from '../src/store/status.ts';
import { checkTenant, otherTenants, tenantsOf } from '../src/store/tenants.ts';

/** A store that has marks of deliveries of these tenants, and dead letters of those. */
const opened = (marked: readonly string[], letters: readonly (string | undefined)[] = []) =>
  ({
    store: {
      log: {
        marks: () =>
          Promise.resolve({
            marks: Object.fromEntries(marked.map((one) => [`ack/${one}/call:completed/s`, 1])),
          }),
      },
    },
    deadLetters: {
      list: () => Promise.resolve({ letters: letters.map((tenant) => ({ tenant })) }),
    },
  }) as unknown as OpenedStore;

const many = (count: number) => Array.from({ length: count }, (_, at) => `t${at + 10}`);

describe('the tenants of a store', () => {
  test('are those of its deliveries and of its dead letters, each once', async () => {
    expect(await tenantsOf(opened(['b', 'a', ''], ['c', 'a', undefined]))).toEqual(['a', 'b', 'c']);
    expect(await tenantsOf(opened([''], [undefined]))).toEqual([]);
    const { log: _none, ...store } = opened([]).store;
    expect(await tenantsOf({ ...opened([], ['c']), store })).toEqual(['c']);
  });

  test.each<[marked: string[], tenant: string | undefined, result: string | undefined]>([
    [[''], undefined, undefined],
    [['a', 'b'], 'b', undefined],
    // The log names so many tenants, and this may be one of the others.
    [['a', '*'], 'c', undefined],
    [
      [''],
      'c',
      'The store has no deliveries for tenant c. If the name is wrong, every event will look missed.',
    ],
    [
      ['a', 'b'],
      'c',
      'The store has no deliveries for tenant c, only for a, b. If the name is wrong, every event will look missed.',
    ],
  ])('%j and --tenant %s: what is doubtful', async (marked, tenant, result) => {
    expect(await checkTenant(opened(marked), tenant)).toBe(result);
  });

  test.each([
    [['a'], 'a'],
    [['a', '*'], 'a and others'],
    [many(10), many(10).join(', ')],
    [many(11), `${many(10).join(', ')} and 1 more`],
    [many(13), `${many(10).join(', ')} and 3 more`],
  ])('%j have to be told apart', async (marked, named) => {
    const fix = 'Pass --tenant NAME, and run the command once for each tenant.';
    await expect(checkTenant(opened(marked), undefined)).rejects.toMatchObject({
      ...{ exitCode: 2, message: `This receiver has tenants: ${named}.`, fix },
    });
  });
});

test.each<
  [owners: (string | undefined)[], tenant: string | undefined, message: string | undefined]
>([
  [[], undefined, undefined],
  [['a', 'a'], 'a', undefined],
  [[undefined], undefined, undefined],
  [['a'], undefined, '1 of 1 dead letter belongs to tenants: a (1).'],
  [['b', 'a', 'a', undefined], undefined, '3 of 4 dead letters belong to tenants: a (2), b (1).'],
  [['a', 'b'], 'a', '1 of 2 dead letters does not belong to tenant a: b (1).'],
  [
    ['a', undefined, 'b', undefined],
    'a',
    '3 of 4 dead letters do not belong to tenant a: no tenant (2), b (1).',
  ],
  [
    ['x', ...many(11)],
    'x',
    `11 of 12 dead letters do not belong to tenant x: ${many(10)
      .map((one) => `${one} (1)`)
      .join(', ')} and 1 more.`,
  ],
])('dead letters of %j are redriven for %s, or refused', (owners, tenant, message) => {
  const refusal = otherTenants(
    owners.map((one) => ({ tenant: one }) as ListedDeadLetter),
    tenant,
  );
  expect(refusal?.message).toBe(message && `${message} Nothing was sent.`);
  if (refusal) expect(refusal.exitCode).toBe(2);
});

const RECONCILE = 'Run `call-webhooks reconcile --since 2026-01-31T12:00Z --to URL` with it.';
const flagged = (flags: string) =>
  `Run call-webhooks reconcile --since 2026-01-31T12:00Z --to URL${flags} with it.`;

test.each<[store: string | undefined, prefix: string | undefined, flags: string]>([
  [undefined, undefined, ''],
  ['sqlite:calls.db', undefined, ' --store sqlite:calls.db'],
  ['sqlite:my calls.db', "it's", " --store 'sqlite:my calls.db' --prefix 'it'\\''s'"],
  ['redis://127.0.0.1:6379/1', 'shop', ' --store redis://127.0.0.1:6379/1 --prefix shop'],
  ['redis://user:hunter2@host/1', undefined, ' --store URL'],
  ['redis://:hunter2@host/1', 'shop', ' --store URL --prefix shop'],
  ['postgres://user:hunter2@host/db', undefined, ' --store URL'],
  ['postgres://user@host/db', 'calls', ' --store postgres://user@host/db --prefix calls'],
  ['./my-store.mjs', undefined, ' --store ./my-store.mjs'],
])(
  'with --store %s and --prefix %s, the commands of a status have these flags',
  (store, prefix, flags) => {
    const status = {
      ...{ attention: [{ text: RECONCILE, fix: RECONCILE }], notes: [{ text: RECONCILE }] },
      line: 'Run `call-webhooks status`.',
    } as unknown as ToldStatus;
    const { attention, notes, line } = withFlags(status, {
      ...(store !== undefined && { store }),
      ...(prefix !== undefined && { prefix }),
    });
    expect(attention.map(({ fix }) => plainText(fix))).toEqual([flagged(flags)]);
    expect(notes.map(({ text }) => plainText(text))).toEqual([flagged(flags)]);
    expect(plainText(line)).toBe('Run call-webhooks status.');
  },
);
