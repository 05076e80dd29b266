import { expect } from 'expect';
import type { OutcomeBatch, OutcomeLog, OutcomeRow } from '@call-webhooks/core/stores';
import { badCursors } from '../bad-cursors.ts';
import { unique } from '../unique.ts';
import type { StoreTestContext } from './under-test.ts';

/** How many batches and processes a log keeps, and for how long. */
const MAX_BATCHES = 2_000;
const MAX_PROCESSES = 1_000;
const KEPT_MINUTES = 26 * 60;

/** What every log must do. */
export function outcomeLog({ it, store, connections, now, advance }: StoreTestContext): void {
  const log = () => store().log!;
  const logs = () => connections().map((one) => one.log!);
  const minute = () => Math.floor(now() / 60_000);

  const row = (more: Partial<OutcomeRow> = {}): OutcomeRow => ({
    at: now(),
    process: 'p1',
    outcome: 'handled',
    source: 'webhook',
    durationMs: 1.5,
    webhookId: unique('webhook'),
    ...more,
  });

  const batch = (rows: OutcomeRow[], more: Partial<OutcomeBatch> = {}): OutcomeBatch => ({
    id: unique('batch'),
    process: { id: 'p1', host: 'h', pid: 1, startedAt: now() - 5, at: now(), inFlight: 2 },
    rows,
    counts: {},
    ...more,
  });

  /** What one minute has of these counters. */
  async function counted(by: OutcomeLog, ...names: string[]) {
    const counts = await by.counts(minute() - 5, minute());
    return names.map((name) =>
      [...counts.values()].reduce(
        (sum, found) => sum + (new Map(Object.entries(found)).get(name) ?? 0),
        0,
      ),
    );
  }

  /** The newest pages, until a row was found or the log ends. */
  async function readUntil(by: OutcomeLog, webhookId: string | undefined, batches: number) {
    const pages: OutcomeRow[][] = [];
    let before: string | undefined;
    do {
      const page = await by.read({ before, batches });
      pages.push(page.rows);
      before = page.before;
    } while (before !== undefined && !pages.at(-1)!.some((found) => found.webhookId === webhookId));
    return { pages, isAtEnd: before === undefined };
  }

  it('gives the newest rows first, page by page, on every connection', async () => {
    const first = [row({ at: 1 }), row({ at: 2, late: true, attempt: 2, error: 'it failed' })];
    const second = [row({ at: 3, tenant: 'acme', secretId: 's1', handlerMs: 0.5, lagMs: 0 })];
    for (const rows of [first, second, []]) await log().append(batch(rows));
    const rows = [second[0], first[1], first[0]];
    for (const one of logs()) {
      const { pages, isAtEnd } = await readUntil(one, first[0]!.webhookId, 1);
      expect(pages.flat()).toEqual(rows);
      expect(isAtEnd).toBe(true);
      expect((await one.read()).rows).toEqual(rows);
      expect((await one.read({ batches: 2 })).rows).toEqual([second[0]]);
    }
  });

  it('refuses a cursor that no page of the log gave', async () => {
    for (let written = 0; written < 3; written++) await log().append(batch([row()]));
    const { before } = await log().read({ batches: 1 });
    expect((await log().read({ before, batches: 1 })).rows).toHaveLength(1);
    for (const garbage of [...badCursors(before!), '1.5', 'k3.0123456789abcdef01234567'])
      await expect(log().read({ before: garbage })).rejects.toMatchObject({
        name: 'WebhookError',
        code: 'invalid-cursor',
      });
  });

  it('adds counts exactly: three writers at once, batches in any order', async () => {
    const [a, b] = [unique('outcome/webhook/a'), unique('secret/b')];
    const writers = [0, 1, 2].map((index) => logs()[index % logs().length]!);
    const counts = { [minute()]: { [a]: 2, [b]: 1 }, [minute() - 1]: { [a]: 1 } };
    await Promise.all(
      writers.map(async (writer) => {
        for (let turn = 0; turn < 20; turn++)
          await Promise.all([writer.append(batch([row()], { counts })), writer.append(batch([]))]);
      }),
    );
    for (const one of logs()) expect(await counted(one, a, b)).toEqual([180, 60]);
    const before = await log().counts(minute() - 1, minute() - 1);
    expect([...before.keys()]).toEqual([minute() - 1]);
    expect(before.get(minute() - 1)).toMatchObject({ [a]: 60 });
    expect(await log().counts(minute() + 9, minute() + 10)).toEqual(new Map());
  });

  it('takes a batch once, however often and wherever it is written', async () => {
    const name = unique('outcome/webhook/once');
    const once = batch([row()], { counts: { [minute()]: { [name]: 3 } } });
    await Promise.all(logs().flatMap((one) => [one.append(once), one.append(once)]));
    await log().append(batch([row()]));
    await log().append(once);
    expect(await counted(log(), name)).toEqual([3]);
    const { rows } = await log().read({ batches: 5 });
    expect(rows.filter(({ webhookId }) => webhookId === once.rows[0]!.webhookId)).toHaveLength(1);
  });

  it('takes odd names and texts', async () => {
    const names = ['__proto__', 'constructor', `'; -- \\ $1 ? "{}[]=%`, 'é\u{1f4de}', 'a b', ''];
    const marked = unique('');
    const counts = Object.fromEntries(names.map((name) => [`secret/${name}${marked}`, 1]));
    counts['toString'] = 1;
    Object.defineProperty(counts, '__proto__', { value: 1, enumerable: true });
    const odd = row({ callId: '__proto__', error: `'; -- \\ $1 ? \0 \ud83d \u2028 "é\u{1f4de}` });
    await log().append(batch([odd], { counts: { [minute()]: counts } }));
    expect((await log().read({ batches: 1 })).rows).toEqual([odd]);
    const found = await counted(log(), ...Object.keys(counts));
    expect(found).toEqual(Object.keys(counts).map(() => 1));
  });

  it('knows the processes that write, what they said last and when', async () => {
    const id = unique('process');
    const writer = { id, host: 'a', pid: 7, startedAt: now(), at: now(), inFlight: 3 };
    await log().append(batch([], { process: writer }));
    await log().append(batch([], { process: { ...writer, at: now() + 1, inFlight: 0 } }));
    const closed = { ...writer, id: unique('process'), at: now(), closed: true } as const;
    await log().append(batch([], { process: closed }));
    for (const one of logs()) {
      const seen = await one.processes();
      const [last] = seen.filter((found) => found.id === id);
      expect(last).toMatchObject({ id, host: 'a', pid: 7, inFlight: 0 });
      expect(last!.closed).toBeUndefined();
      expect(Math.abs(last!.seenAt - now())).toBeLessThan(60_000);
      expect(seen.find((found) => found.id === closed.id)).toMatchObject(closed);
    }
  });

  it('forgets counts after 26 hours', async () => {
    const name = unique('outcome/webhook/old');
    const old = minute() - KEPT_MINUTES - 10;
    const counts = { [old]: { [name]: 1 }, [minute() - KEPT_MINUTES + 10]: { [name]: 2 } };
    await log().append(batch([], { counts: { ...counts, [minute()]: { [name]: 4 } } }));
    await log().append(batch([]));
    const kept = await log().counts(0, minute());
    expect(kept.has(old)).toBe(false);
    const sums = [...kept.values()].map((found) => found[name] ?? 0);
    expect(sums.reduce((sum, count) => sum + count, 0)).toBe(6);
  });

  for (const days of [2, -2])
    it(`counts again after a clock that was ${days} days ahead`, async () => {
      const name = unique('outcome/webhook/clock');
      const off = days * 1_440;
      const writer = { id: unique('process'), host: 'h', pid: 1, startedAt: now(), inFlight: 0 };
      const write = (minutes: number) =>
        log().append(
          batch([], {
            process: { ...writer, at: now() + minutes * 60_000 },
            counts: { [minute() + minutes]: { [name]: 1 } },
          }),
        );
      await write(off);
      await write(0);
      await write(0);
      for (const one of logs()) {
        expect(await counted(one, name)).toEqual([2]);
        expect((await one.processes()).some(({ id }) => id === writer.id)).toBe(true);
      }
    });

  it('forgets a process 26 hours after its last batch', async () => {
    const writer = (id: string, at: number) =>
      batch([], { process: { id, host: 'h', pid: 1, startedAt: at, at, inFlight: 0 } });
    const [gone, lasting] = [unique('process'), unique('process')];
    await log().append(writer(gone, now()));
    await advance(KEPT_MINUTES * 30_000);
    await log().append(writer(lasting, now()));
    const idsAt = async () => (await log().processes()).map(({ id }) => id);
    expect(await idsAt()).toEqual(expect.arrayContaining([gone, lasting]));
    await advance(KEPT_MINUTES * 30_000 + 120_000);
    await log().append(writer(lasting, now()));
    const ids = await idsAt();
    expect(ids).toContain(lasting);
    expect(ids).not.toContain(gone);
  });

  it('keeps the newest 2,000 batches, and the 1,000 processes that wrote last', async () => {
    const first = row();
    await log().append(batch([first]));
    const newBatch = () => {
      const writer = { id: unique('process'), host: 'h', pid: 1, startedAt: now(), inFlight: 0 };
      return batch([row()], { process: { ...writer, at: now() } });
    };
    for (let written = 0; written < MAX_BATCHES; written += 40)
      await Promise.all(
        Array.from({ length: 40 }, (_, at) => logs()[at % logs().length]!.append(newBatch())),
      );
    const { pages, isAtEnd } = await readUntil(log(), first.webhookId, 400);
    expect(isAtEnd).toBe(true);
    expect(pages.flat()).toHaveLength(MAX_BATCHES);
    expect(pages.flat().some(({ webhookId }) => webhookId === first.webhookId)).toBe(false);
    const last = newBatch();
    await log().append(last);
    const processes = await log().processes();
    expect(processes.some(({ id }) => id === last.process.id)).toBe(true);
    expect(Math.abs(processes.length - MAX_PROCESSES)).toBeLessThan(10);
  });
}
