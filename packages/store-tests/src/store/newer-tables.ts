import expect from '../../expect.cjs';
import type { OutcomeBatch } from '@call-webhooks/core/stores';
import { unique } from '../unique.ts';
import { LEASE_MS, type StoreTestContext } from './under-test.ts';

/** Tables that a newer release has migrated while a process of this one runs. */
export function newerTables({
  it,
  has,
  store,
  connections,
  claim,
  now,
  setNewer,
}: StoreTestContext): void {
  it('refuses tables that a newer release has migrated since, and changes nothing in them', async () => {
    const held = claim(unique('event'));
    const group = unique('group');
    const cursor = unique('cursor');
    await store().admit(held);
    for (const one of connections()) await one.ping?.();
    if (!(await setNewer(true))) return; // its tables have no version
    const writer = { id: 'p1', host: 'h', pid: 1, startedAt: now(), at: now(), inFlight: 0 };
    const nothing = { rows: [], failures: [], counts: {}, marks: {} };
    const batch: OutcomeBatch = { id: unique('batch'), process: writer, ...nothing };
    const other = unique('event');
    for (const one of connections())
      for (const call of [
        ...(has('ping') ? [() => one.ping!()] : []),
        () => one.admit(claim(other)),
        () => one.admit(claim(undefined)),
        () => one.admit(claim(other, { group })),
        () => Promise.all(Array.from({ length: 8 }, () => one.admit(claim(unique('event'))))),
        () => one.complete(held.key!, held.token),
        () => one.release(held.key!, held.token),
        () => one.extend(held.key!, held.token, LEASE_MS),
        ...(has('reopen') ? [() => one.reopen!(held.key!)] : []),
        ...(has('saveCursor') ? [() => one.saveCursor!(cursor, 'here')] : []),
        ...(has('loadCursor') ? [() => one.loadCursor!(cursor)] : []),
        ...(has('peek') ? [() => one.peek!([held.key!])] : []),
        ...(has('log')
          ? [
              () => one.log!.append(batch),
              () => one.log!.read(),
              () => one.log!.counts('minutes', 0, 1),
              () => one.log!.marks(),
              () => one.log!.processes(),
              () => one.log!.erase({ callIds: ['c1'] }),
            ]
          : []),
      ])
        await expect(call()).rejects.toThrow(/newer (?:release|version)/);
    await setNewer(false);
    for (const one of connections()) {
      if (has('peek')) expect(await one.peek!([held.key!, other])).toEqual(['running', undefined]);
      if (has('loadCursor')) expect(await one.loadCursor!(cursor)).toBeUndefined();
    }
    expect(await store().complete(held.key!, held.token)).toBe(true);
  });
}
