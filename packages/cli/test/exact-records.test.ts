import { describe, expect, test } from '@jest/globals';
import { deadLetter } from '@call-webhooks/contract-tests';
import { deadLetterId } from '@call-webhooks/core/stores';
import { setup } from './support/dead-letters.ts';
import { run } from './support/run.ts';

// Scripts read these records, and people these lines: each has all of its fields, and no others.

const at = (second: number) => new Date(Date.UTC(2026, 0, 2, 3, 4, second));
const BODY = '{"eventName":"call:completed","callId":"c1","name":"Ada"}';
const LETTERS = [
  deadLetter({
    ...{ webhookId: 'w1', callId: 'c1', key: 'c1:call:completed', attempt: 2, failedAt: at(1) },
    rawBody: Buffer.from(BODY),
  }),
  deadLetter({
    ...{ webhookId: 'w2', callId: 'c2', key: 'c2:call:completed', attempt: 1, failedAt: at(2) },
    ...{ reason: 'invalid-payload', rawBody: Buffer.from('no json'), errorText: 'Error: no id' },
  }),
] as const;
const FIRST = {
  ...{ reason: 'handler-failed', webhookId: 'w1', eventName: 'call:completed', callId: 'c1' },
  ...{ key: 'c1:call:completed', bytes: BODY.length, source: 'redrive', attempt: 3 },
  ...{ error: 'Error: still down', timestamp: '2026-01-02T03:04:03.678Z' },
  failedAt: at(9).toISOString(),
  history: [
    {
      ...{ at: at(1).toISOString(), source: 'webhook', attempt: 2 },
      error: 'Error: the CRM is down',
    },
    { at: at(9).toISOString(), source: 'redrive', attempt: 3, error: 'Error: still down' },
  ],
};
const SECOND = {
  ...{ reason: 'invalid-payload', webhookId: 'w2', eventName: 'call:completed', callId: 'c2' },
  ...{ key: 'c2:call:completed', bytes: 7, source: 'webhook', attempt: 1, error: 'Error: no id' },
  ...{ timestamp: '2026-01-02T03:04:03.678Z', failedAt: at(2).toISOString() },
  history: [{ at: at(2).toISOString(), source: 'webhook', attempt: 1, error: 'Error: no id' }],
};

/** The first letter failed again in a redrive; another redrive has the second one now. */
async function stored() {
  const made = await setup();
  const { deadLetters, env } = made;
  const [one, two] = await Promise.all(LETTERS.map((letter) => deadLetterId(letter)));
  const ids = [one!, two!] as const;
  for (const letter of LETTERS) await deadLetters.put(letter);
  const failure = { at: at(9), source: 'redrive', attempt: 3, error: 'Error: still down' } as const;
  await deadLetters.claim(ids[0], { token: 'redrive', leaseMs: 60_000 });
  await deadLetters.giveBack(ids[0], 'redrive', failure);
  await deadLetters.claim(ids[1], { token: 'redrive', leaseMs: 60_000 });
  const { claimedUntil } = (await deadLetters.get(ids[1]))!;
  const json = async (...argv: string[]) => {
    const { records, code, stderr } = await run([...argv, '--json'], { env });
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.any(String) });
    return records();
  };
  const text = async (...argv: string[]) => (await run(argv, { env })).stdout.split('\n');
  return { ...made, ids, json, text, claimedUntil: claimedUntil!.toISOString() };
}

describe('what is printed of dead letters', () => {
  test('by list', async () => {
    const { ids, json, text, claimedUntil } = await stored();
    const second = { id: ids[1], ...SECOND, claimedUntil };
    expect(await json('dead-letters', 'list')).toEqual([second, { id: ids[0], ...FIRST }]);
    const [, claimed, failed] = await text('dead-letters', 'list');
    const event = 'call:completed';
    expect(claimed).toBe(
      `2026-01-02 03:04:02Z  ${ids[1]}  ${event}  redrive in progress; Error: no id`,
    );
    expect(failed).toBe(`2026-01-02 03:04:09Z  ${ids[0]}  ${event}  Error: still down`);
  });

  test.each([
    [1, 1, true],
    [2, 2, false],
    [3, 2, false],
  ])('by list -n %i: %i of 2, and whether there are more: %s', async (limit, shown, hasMore) => {
    const { env, json } = await stored();
    const list = ['dead-letters', 'list', '-n', String(limit)];
    expect(await json(...list)).toHaveLength(shown);
    const { stdout, stderr } = await run(list, { env });
    expect(stdout.trim().split('\n')).toHaveLength(1 + shown);
    expect(stderr.includes(`These are the first ${limit}. `)).toBe(hasMore);
  });

  test('by show', async () => {
    const { ids, json, text, claimedUntil } = await stored();
    const masked = JSON.stringify({ ...(JSON.parse(BODY) as object), name: '•••' });
    const shown = await json('dead-letters', 'show', ids[0]);
    expect(shown).toEqual([{ id: ids[0], ...FIRST, body: expect.any(String) }]);
    expect(JSON.parse(String(shown[0]!['body']))).toEqual({
      ...(JSON.parse(masked) as object),
      name: expect.not.stringContaining('Ada'),
    });
    expect(await json('dead-letters', 'show', ids[0], '--reveal')).toEqual([
      { id: ids[0], ...FIRST, body: BODY },
    ]);
    expect(await json('dead-letters', 'show', ids[1])).toEqual([
      { id: ids[1], ...SECOND, claimedUntil, body: '(7 bytes that are not JSON)' },
    ]);
    expect((await text('dead-letters', 'show', ids[0])).slice(0, 12)).toEqual([
      'call:completed  handler-failed',
      `id                 ${ids[0]}`,
      'call               c1',
      'key                c1:call:completed',
      'webhook id         w1',
      'attempts           3',
      'dead letter since  2026-01-02 03:04:01Z',
      'failed last        2026-01-02 03:04:09Z',
      '2026-01-02 03:04:01Z  webhook',
      '  Error: the CRM is down',
      '2026-01-02 03:04:09Z  redrive',
      '  Error: still down',
    ]);
    const second = await text('dead-letters', 'show', ids[1]);
    expect(second).toContain(`claimed until  ${claimedUntil.slice(0, 19).replace('T', ' ')}Z`);
    // It became a dead letter at its first attempt.
    expect(second).toContain('first failed   2026-01-02 03:04:02Z');
  });

  test('by show --reveal of bytes that are no text', async () => {
    const { deadLetters, json } = await setup().then(async (made) => ({
      ...made,
      json: async (...argv: string[]) => (await run([...argv, '--json'], made)).records(),
    }));
    const letter = deadLetter({ rawBody: Uint8Array.of(0xff, 0xfe) });
    await deadLetters.put(letter);
    const id = await deadLetterId(letter);
    const [shown] = await json('dead-letters', 'show', id, '--reveal');
    expect(shown).toMatchObject({ base64: '//4=' });
    expect(shown).not.toHaveProperty('body');
  });

  test('by causes', async () => {
    const { ids, json, text } = await stored();
    const cause = (id: string, error: string, failed: number[]) => ({
      ...{ id: expect.stringMatching(/^[\da-f]{12}$/), text: error, count: 1 },
      ...{ eventNames: ['call:completed'], example: { id, error } },
      ...{ firstAt: at(failed[0]!).toISOString(), lastAt: at(failed.at(-1)!).toISOString() },
    });
    expect(await json('dead-letters', 'causes')).toEqual([
      cause(ids[0], 'Error: still down', [1, 9]),
      cause(ids[1], 'Error: no id', [2]),
    ]);
    const lines = await text('dead-letters', 'causes');
    expect(lines[1]).toMatch(/^1 {6}[\da-f]{8} {2}2026-01-02 03:04:09Z {2}call:completed$/);
    expect(lines[2]).toBe('       Error: still down');
  });

  test('by remove, also of one that is gone meanwhile', async () => {
    const { ids, json, deadLetters } = await stored();
    const given = ['dead-letters', 'remove', '--yes'];
    expect(await json(...given, ids[0], ids[0], ids[1])).toEqual([
      { id: ids[0], removed: true },
      { id: ids[0], removed: false },
      { id: ids[1], removed: true },
    ]);
    expect(await deadLetters.count()).toBe(0);
  });

  test('by erase, before and after', async () => {
    const { ids, json } = await stored();
    const NOTHING = {
      ...{ deadLetters: 0, deadJobs: 0, doneJobs: 0, waitingJobs: 0, outcomes: 0, keys: 0 },
      ...{ running: 0, leftWaiting: 0, warnings: [] },
    };
    const remains = [expect.stringContaining('VACUUM'), expect.stringContaining('backups')];
    const match = (id: string, callId: string, second: number, result: string) => ({
      ...{ type: 'match', where: 'dead letters', state: 'dead', result, id, callId },
      ...{ eventName: 'call:completed', at: at(second).toISOString() },
    });
    const skipped = expect.stringContaining('Skipped: 1 event being handled.');
    expect(await json('erase', '--before', '1d', '--dry-run')).toEqual([
      match(ids[1], 'c2', 2, 'running'),
      match(ids[0], 'c1', 9, 'erased'),
      {
        ...{ type: 'result', dryRun: true, ...NOTHING, deadLetters: 1, running: 1, remains },
        warnings: [skipped],
      },
    ]);
    expect(await json('erase', '--call', 'c1', '--yes', '--by', 'ops')).toEqual([
      { type: 'result', ...NOTHING, deadLetters: 1, by: 'ops', remains },
    ]);
  });
});
