import { describe, expect, it } from '@jest/globals';
import { queuedCall } from '@call-webhooks/contract-tests';
import { bullmqJobs } from '../src/index.ts';
import { jobId } from '../src/bullmq-job-id.ts';

const STATES = {
  ...{ wait: 'waiting', paused: 'waiting', prioritized: 'waiting', delayed: 'waiting' },
  ...{ active: 'running', failed: 'dead', completed: 'done' },
} as const;
type Name = keyof typeof STATES;

interface Fake {
  id?: string;
  state: string;
  data: unknown;
  timestamp: number;
  finishedOn?: number | null;
  /** What happens to the job when it is to be removed. */
  removing?: () => void;
}

/** A queue of BullMQ, without a server, and what was done to its jobs. */
function queueOf(all: Fake[]) {
  const done: unknown[][] = [];
  const jobOf = (fake: Fake) => ({
    ...fake,
    ...{ attemptsStarted: 3, failedReason: 'no', retry: () => Promise.resolve() },
    getState: () => Promise.resolve(fake.state),
    isFailed: () => Promise.resolve(fake.state === 'failed'),
    async remove() {
      fake.removing?.();
      done.push(['remove', fake.id]);
      all.splice(all.indexOf(fake), 1);
    },
    updateData: async (data: object) => void done.push(['updateData', fake.id, data]),
  });
  const queue = {
    async getJob(id: string) {
      const found = all.find((fake) => fake.id === id);
      return found && jobOf(found);
    },
    async getJobs([name]: string[], start: number, end: number, asc: boolean) {
      const found = all.filter(({ state }) => state === name).map(jobOf);
      return (asc ? found : found.reverse()).slice(start, end + 1);
    },
    getFailedCount: () => Promise.resolve(all.filter(({ state }) => state === 'failed').length),
  };
  return { jobs: bullmqJobs(queue), done };
}

const fake = (id: string, state: string, more: Partial<Fake> = {}): Fake => ({
  ...{ id, state, timestamp: 1_000, data: queuedCall(`call of ${id}`, { receivedAt: 2_000 }) },
  ...(state === 'failed' || state === 'completed' ? { finishedOn: 3_000 } : {}),
  ...more,
});

describe('the jobs of BullMQ in every state', () => {
  it('are listed in the order in which a job goes through them, with their times', async () => {
    const names = Object.keys(STATES) as Name[];
    const all = names.flatMap((name) => [1, 2, 3].map((n) => fake(`${name}-${String(n)}`, name)));
    const { jobs } = queueOf([...all]);
    for (const limit of [1, 2, 3, 100]) {
      const found = [];
      let cursor: string | undefined;
      do {
        const page = await jobs.list({ limit, cursor });
        expect(page.jobs.length).toBeLessThanOrEqual(limit);
        found.push(...page.jobs);
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(found).toEqual(
        all.map(({ id, state, data }) => ({
          ...{ id, state: STATES[state as Name], delivery: data },
          at: new Date(state === 'failed' ? 3_000 : 2_000),
        })),
      );
    }
  });

  it('are listed without what no receiver added, by the time at which BullMQ got them if they have none', async () => {
    const { receivedAt: _receivedAt, ...old } = queuedCall('old');
    const { jobs } = queueOf([
      fake('foreign', 'wait', { data: { body: 'x' } }),
      fake('nothing', 'wait', { data: null }),
      fake('old', 'wait', { data: old }),
      fake('without an end', 'failed', { finishedOn: null }),
    ]);
    const found = [...(await jobs.list()).jobs, ...(await jobs.list({ cursor: '5.0' })).jobs];
    expect(found.map(({ id, at }) => [id, at.getTime()])).toEqual([
      ['old', 1_000],
      ['without an end', 1_000],
    ]);
  });

  it.each([
    ...['', '7.0', '0', '0.', '.0', '0.-1', '0.1.2', '0.1234567890123', 'a.0'],
    ...[5, null, {}],
  ])('are not listed from the cursor %p', async (cursor) => {
    const { jobs } = queueOf([]);
    await expect(jobs.list({ cursor: cursor as string })).rejects.toMatchObject({
      code: 'invalid-cursor',
    });
  });

  it.each<[string, 'waiting' | 'dead' | 'done', unknown[][]]>([
    ['wait', 'waiting', [['remove', 'one']]],
    ['waiting', 'waiting', [['remove', 'one']]],
    ['prioritized', 'waiting', [['remove', 'one']]],
    ['delayed', 'waiting', [['remove', 'one']]],
    ['failed', 'dead', [['remove', 'one']]],
    // It stays, and is known as a duplicate.
    ['completed', 'done', [['updateData', 'one', {}]]],
  ])(
    'are erased as BullMQ calls their state, %s, and in no other',
    async (name, state, expected) => {
      for (const asked of ['waiting', 'dead', 'done'] as const) {
        const { jobs, done } = queueOf([fake('one', name), fake('two', name)]);
        expect(await jobs.erase('one', asked)).toBe(asked === state);
        expect(done).toEqual(asked === state ? expected : []);
        expect(await jobs.erase('three', asked)).toBe(false);
      }
    },
  );

  it('are not erased once a worker has taken them, whom BullMQ protects', async () => {
    const taken = fake('one', 'wait', {
      removing() {
        taken.state = 'active';
        throw new Error('Job one could not be removed because it is locked by another worker');
      },
    });
    const { jobs } = queueOf([taken]);
    expect(await jobs.erase('one', 'waiting')).toBe(false);
  });

  it('are still there if BullMQ can not remove them, which is an error', async () => {
    const removing = () => {
      throw new Error('down');
    };
    const { jobs } = queueOf([fake('one', 'wait', { removing })]);
    await expect(jobs.erase('one', 'waiting')).rejects.toThrow(
      'BullMQ could not remove a waiting job.',
    );
  });

  it('are forgotten by the keys of their events, once they are done', async () => {
    const keys = ['handled', 'waits', 'unknown', 'handled too'];
    const [handled, waits, , too] = (await Promise.all(keys.map((key) => jobId({ key })))) as [
      ...[string, string, string, string],
    ];
    const { jobs, done } = queueOf([
      ...[fake(handled, 'completed'), fake(waits, 'wait'), fake(too, 'completed')],
    ]);
    expect(await jobs.forget(keys)).toBe(2);
    expect(done).toEqual([
      ['remove', handled],
      ['remove', too],
    ]);
    expect(await jobs.forget([])).toBe(0);
  });

  it.each([undefined, null, {}, { getJobs: () => 1 }, 'calls'])('need a queue: not %p', (queue) => {
    expect(() => bullmqJobs(queue as never)).toThrow(
      /^Invalid queue of bullmq(?:Jobs|DeadJobs): expected a Queue of BullMQ, such as new Queue\("calls", { connection }\)\./,
    );
  });
});
