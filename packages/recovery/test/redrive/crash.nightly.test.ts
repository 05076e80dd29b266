import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Admission } from '@call-webhooks/core/stores';
import {
  deadLetter,
  describeWithProgram,
  postgresBinaries,
  redisServer,
  startPostgres,
  unique,
  waitFor,
} from '@call-webhooks/contract-tests';
import type { RedriveResult } from '../../src/index.ts';
import { openEngine, type Engine, type EngineName } from './engines.ts';
import { isPoison, LEASE_MS, type JournalEntry, type OperatorInput } from './operator-input.ts';

const LETTERS = 1_000;
const POISON = 100;
const folder = mkdtempSync(join(tmpdir(), 'call-webhooks-redrive-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

/** Dead letters of events that the store knows as dead-lettered. */
async function fill({ store, deadLetters }: Engine): Promise<string[]> {
  const keys = Array.from({ length: LETTERS }, (_none, at) =>
    unique(at < POISON ? 'poison-call' : 'call'),
  );
  for (let from = 0; from < LETTERS; from += 100)
    await Promise.all(
      keys.slice(from, from + 100).map(async (callId) => {
        const key = `${callId}:call:completed`;
        const rawBody = Buffer.from(JSON.stringify({ eventName: 'call:completed', callId }));
        await deadLetters.put(deadLetter({ callId, key, rawBody }));
        const token = unique('token');
        await claim(store, key, token);
        expect(await store.complete(key, token, 'dead-lettered')).toBe(true);
      }),
    );
  return keys.map((callId) => `${callId}:call:completed`);
}

const claim = (store: Engine['store'], key: string, token: string): Promise<Admission> =>
  store.admit({ key, token, webhookId: token, replayUntil: Date.now(), leaseMs: 60_000 });

/** An operator's process, from which a result comes unless it is killed. */
async function startOperator(input: OperatorInput) {
  const path = fileURLToPath(new URL('./operator.ts', import.meta.url));
  const child: ChildProcess = fork(path, [JSON.stringify(input)], {
    execArgv: ['--import', 'tsx', '--conditions=@call-webhooks/source'],
  });
  const exited = once(child, 'exit');
  await Promise.race([once(child, 'message'), exited]);
  return {
    pid: child.pid,
    async run(): Promise<RedriveResult | undefined> {
      const answered = once(child, 'message');
      child.send('go');
      const answer = await Promise.race([answered, exited.then(() => undefined)]);
      return answer?.[0] as RedriveResult | undefined;
    },
    async kill(): Promise<void> {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const read = (journal: string): JournalEntry[] =>
  readFileSync(journal, { encoding: 'utf8', flag: 'a+' })
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JournalEntry);

/** The runs of each event in their order: from when to when, and whether they had their effect. */
function runsByKey(entries: JournalEntry[], killed: { pid: number | undefined; at: number }) {
  const runs = new Map<string, { from: number; until: number; effect: boolean }[]>();
  for (const begin of entries.filter(({ kind }) => kind === 'begin')) {
    const end = entries.find(
      ({ kind, key, pid, at }) =>
        kind !== 'begin' && key === begin.key && pid === begin.pid && at >= begin.at,
    );
    const until = end?.at ?? (begin.pid === killed.pid ? killed.at : Infinity);
    const run = { from: begin.at, until, effect: end?.kind === 'effect' };
    runs.set(
      begin.key,
      [...(runs.get(begin.key) ?? []), run].sort((a, b) => a.from - b.from),
    );
  }
  return runs;
}

function survivesCrash(name: EngineName, url: () => string): void {
  it(`${name}: 1,000 letters, two operators, one killed: none lost, none side by side`, async () => {
    const engine = await openEngine(name, url());
    try {
      const keys = await fill(engine);
      const input = { engine: name, url: url(), journal: join(folder, `${name}.jsonl`) };
      const [one, other] = await Promise.all([startOperator(input), startOperator(input)]);
      const running = [one.run(), other.run()];
      await waitFor(() => read(input.journal).length > 400, { within: 60_000 });
      await one.kill();
      const killed = { pid: one.pid, at: Number(process.hrtime.bigint()) };
      const [nothing, result] = await Promise.all(running);
      expect(nothing).toBeUndefined();
      expect(result!.skipped).toBeGreaterThan(0);

      // What the dead operator had claimed is free when its claims have run out.
      const { deadLetters, store } = engine;
      const isFree = async () =>
        (await deadLetters.list({ limit: 1_000 })).letters.every((letter) => !letter.claimedUntil);
      await waitFor(isFree, { within: LEASE_MS * 4, every: 100 });
      const last = await (await startOperator(input)).run();
      expect(last).toMatchObject({ failed: POISON, queued: 0 });

      const runs = runsByKey(read(input.journal), killed);
      const healthy = keys.filter((key) => !isPoison(key));
      const effects = (key: string) => runs.get(key)?.filter(({ effect }) => effect).length ?? 0;
      expect(healthy.filter((key) => effects(key) === 0)).toEqual([]);
      // An effect is repeated only if the process died between it and its commit.
      expect(healthy.filter((key) => effects(key) > 1).length).toBeLessThanOrEqual(4);
      const sideBySide = [...runs].filter(([, list]) =>
        list.some((run, at) => at > 0 && run.from < list[at - 1]!.until),
      );
      expect(sideBySide).toEqual([]);

      const { letters } = await deadLetters.list({ limit: 1_000 });
      expect(letters.map(({ key }) => key).sort()).toEqual(keys.filter(isPoison).sort());
      for (const { history } of letters) {
        expect(history.length).toBeGreaterThan(1);
        expect(history.at(-1)).toMatchObject({ source: 'redrive', error: 'Error: still broken' });
      }
      for (const key of [...healthy.slice(0, 20), ...keys.filter(isPoison).slice(0, 20)])
        expect(await claim(store, key, unique('late'))).toEqual({
          status: isPoison(key) ? 'dead-lettered' : 'duplicate',
        });
    } finally {
      await engine.close();
    }
  }, 180_000);
}

survivesCrash('sqlite', () => join(folder, 'calls.db'));

describeWithProgram('redis-server', 'with Redis', () => {
  let url = '';
  let stop: () => Promise<void>;
  beforeAll(async () => {
    const server = await redisServer();
    await server.start();
    url = `redis://127.0.0.1:${String(server.port)}`;
    stop = () => server.stop();
  });
  afterAll(() => stop());
  survivesCrash('redis', () => url);
});

describeWithProgram(
  { name: 'postgres', path: postgresBinaries(), installedBy: 'postgresql' },
  'with Postgres',
  () => {
    let url = '';
    let stop: () => Promise<void>;
    beforeAll(async () => {
      const server = await startPostgres();
      url = server.url;
      stop = () => server.remove();
    });
    afterAll(() => stop());
    survivesCrash('postgres', () => url);
  },
);
