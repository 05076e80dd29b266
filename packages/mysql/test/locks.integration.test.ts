import { expect, it } from '@jest/globals';
import { deadLetter, unique, waitFor } from '@call-webhooks/contract-tests';
import { deadLetterId } from '@call-webhooks/core/stores';
import { mysqlDeadLetters } from '../src/index.ts';
import { openTestStore, rowsOf, withMysql } from './support.ts';
import { useMysql } from './use-mysql.ts';

const LEASE_MS = 60_000;
/** So long, a lease lasts on while a call waits for its row; milliseconds. A call waits for a second at most. */
const LEFT_MS = 150;

withMysql('a call that waits for the row of an event or a letter', () => {
  const test = useMysql();

  /** An event that is leased and a letter that is claimed, both by `token`. */
  async function opened() {
    const { store, prefix, close, advance } = await openTestStore(test.pool);
    const deadLetters = mysqlDeadLetters(test.pool, { prefix });
    const [key, token] = [unique('event'), unique('token')];
    const claim = { webhookId: unique('w'), replayUntil: Date.now() + 600_000 };
    await store.admit({ ...claim, key, token, leaseMs: LEASE_MS });
    const letter = deadLetter();
    await deadLetters.put(letter);
    const id = await deadLetterId(letter);
    await deadLetters.claim(id, { token, leaseMs: LEASE_MS });
    return { store, deadLetters, prefix, close, advance, key, token, id, letter };
  }
  type Opened = Awaited<ReturnType<typeof opened>>;

  /** Under what isolation those are that wait for a lock. The server shows it anew only to those that have not asked for 100 ms. */
  async function waiting(): Promise<string[]> {
    const rows = await rowsOf<{ level: string }>(
      test.pool,
      `SELECT trx_isolation_level AS level FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'`,
    );
    return rows.map(({ level }) => level);
  }

  /**
   * Makes a call while another transaction has locked its row, and ends that once `until` resolves. On a machine
   * that stands still meanwhile, the call gives up after a second: then once more.
   */
  async function whileLocked<Found>(
    call: (opened: Opened) => Promise<unknown>,
    rows: (opened: Opened) => { table: string; change?: string; where: string; key: string },
    until: (opened: Opened) => Promise<Found>,
  ): Promise<{ answer: unknown; found: Found }> {
    for (let tries = 1; ; tries++) {
      const one = await opened();
      const { table, change, where, key } = rows(one);
      const other = await test.pool.getConnection();
      await other.beginTransaction();
      await other.query(
        `UPDATE ${table} SET ${change ?? `${where} = ${where}`} WHERE ${where} = ?`,
        [key],
      );
      const called = call(one).catch((error: unknown) => error);
      const found = await until(one);
      await other.commit();
      other.release();
      const answer = await called;
      await one.close();
      if (tries < 10 && answer instanceof Error && /Lock wait timeout/.test(answer.message))
        continue;
      return { answer, found };
    }
  }

  const clock = `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(3)) DIV 1000`;

  it.each<[string, (opened: Opened) => Promise<unknown>, 'events' | 'dead_letters']>([
    ['complete', ({ store, key, token }) => store.complete(key, token), 'events'],
    ['release', ({ store, key, token }) => store.release(key, token), 'events'],
    ['extend', ({ store, key, token }) => store.extend(key, token, LEASE_MS), 'events'],
    ['settle', ({ deadLetters, id, token }) => deadLetters.settle(id, token), 'dead_letters'],
    ['give back', ({ deadLetters, id, token }) => deadLetters.giveBack(id, token), 'dead_letters'],
  ])('has lost a lease that ran out meanwhile: %s', async (_name, call, which) => {
    const column = which === 'events' ? 'lease_until' : 'claimed_until';
    const { answer } = await whileLocked(
      call,
      ({ prefix, key, id }) => ({
        table: `${prefix}${which}`,
        change: `${column} = ${clock} + ${String(LEFT_MS)}`,
        ...(which === 'events' ? { where: 'event_key', key } : { where: 'id', key: id }),
      }),
      async () => {
        const now = async () => {
          const [row] = await rowsOf<{ now: number }>(test.pool, `SELECT ${clock} AS now`);
          return row!.now;
        };
        const endsAt = (await now()) + LEFT_MS;
        await waitFor(async () => (await now()) > endsAt, { every: 10 });
      },
    );
    expect(answer).toBe(false);
  });

  it.each<[string, Parameters<typeof whileLocked>[0]]>([
    [
      'admit',
      ({ store, key }) =>
        store.admit({
          ...{ webhookId: unique('w'), replayUntil: Date.now() + 600_000 },
          ...{ key, token: unique('token'), leaseMs: LEASE_MS },
        }),
    ],
    ['complete', ({ store, key, token }) => store.complete(key, token)],
    ['forget', ({ store, key }) => store.forget!([key])],
  ])('is under READ COMMITTED, which locks no rows beside it: %s', async (_name, call) => {
    const { found } = await whileLocked(
      call,
      ({ prefix, key }) => ({ table: `${prefix}events`, where: 'event_key', key }),
      async () => {
        let levels: string[] = [];
        const waits = async () => (levels = await waiting()).length > 0;
        await waitFor(waits, { every: 120, within: 1_000 }).catch(() => undefined); // it has given up
        return levels;
      },
    );
    expect(found).toEqual(['READ COMMITTED']);
  });
});
