import expect from '../../expect.cjs';
import { unique } from '../unique.ts';
import { SLACK_MS, type StoreTestContext } from './under-test.ts';

/** Cursors: where something that goes through a long list has come to. */
export function cursors({ it, has, store, connections, claim, advance }: StoreTestContext): void {
  it('keeps the cursor that was saved last under a name, on every connection', async () => {
    const name = unique('cursor');
    expect(await store().loadCursor!(name)).toBeUndefined();
    await store().saveCursor!(name, 'page 1');
    await store().saveCursor!(name, '{"next":"é\u{1f4de}\'; --"}');
    await store().saveCursor!(`${name}2`, 'other');
    await advance(SLACK_MS);
    for (const one of connections())
      expect(await one.loadCursor!(name)).toBe('{"next":"é\u{1f4de}\'; --"}');
    await store().saveCursor!(name);
    for (const one of connections()) expect(await one.loadCursor!(name)).toBeUndefined();
    expect(await store().loadCursor!(`${name}2`)).toBe('other');
  });

  it('keeps cursors apart from events of the same name', async () => {
    const name = unique('cursor');
    await store().saveCursor!(name, 'here');
    if (has('reopen')) expect(await store().reopen!(name)).toBe(false);
    const event = claim(name);
    expect(await store().admit(event)).toEqual({ status: 'admitted', attempt: 1 });
    expect(await store().complete(name, event.token)).toBe(true);
    expect(await store().loadCursor!(name)).toBe('here');
  });
}
