import { randomBytes, randomUUID } from 'node:crypto';
import type { Claim } from '@call-webhooks/core/stores';
import type { Answers } from './contender-process.ts';
import { OPEN, STORES } from './databases.ts';
import { costOf, runAll, type Prepare } from './load.ts';
import type { BenchOptions } from './options.ts';
import type { Result } from './report.ts';
import { runRounds, type Start } from './rounds.ts';
import { processesBesideServers, type StoreName } from './servers.ts';

const AT_A_TIME = 64;
/** Events of one turn. */
const TURN = 2_000;

/**
 * New events in stores that remember more and more of them. Before each turn, as many old events expire as
 * the turn adds, so that the turn has to sweep, and the store keeps its size.
 */
export async function measure(options: BenchOptions): Promise<Result> {
  const [least, turn] = options.quick ? [100, 50] : [10_000, TURN];
  const sizes: number[] = [];
  for (let size = least; size <= options.events; size *= 10) sizes.push(size);
  const nameOf = (store: string, size: number) => `${store}, ${size.toLocaleString('en')}`;
  const beside = processesBesideServers(import.meta.url);
  const start =
    (store: StoreName, size: number): Start =>
    async (root) => {
      const { process, stop } = await beside(store, [store, root, String(size)]);
      return { turn: () => process.ask('turn', turn), stop };
    };
  const contenders = Object.fromEntries(
    STORES.flatMap((store) => sizes.map((size) => [nameOf(store, size), start(store, size)])),
  );
  const compare = STORES.flatMap((store) =>
    sizes.slice(1).map((size) => [nameOf(store, size), nameOf(store, least)] as const),
  );
  const question = { contenders, compare, isOurs: () => true, warmUps: 2 };
  const rounds = await runRounds(question, options);
  return { title: 'admit and complete, by remembered events', rounds, compare };
}

/** A store that remembers so many handled events, which it got one by one. */
export async function serve(
  place: string,
  name: StoreName,
  root: string,
  events: string,
): Promise<Answers> {
  const size = Number(events);
  const { store, bytes, expire, close } = await OPEN[name](root, place, size);
  const add: Prepare = (number) => Array.from({ length: number }, () => () => deliver(claim()));
  async function deliver({ key, ...claim }: Claim & { key: string }): Promise<void> {
    const { status } = await store.admit({ key, ...claim });
    if (status !== 'admitted') throw new Error(`A new event is ${status}.`);
    if (!(await store.complete(key, claim.token)))
      throw new Error('The lease of a new event was lost.');
  }

  await store.ping?.(); // creates tables
  const empty = await bytes();
  for (let left = size - 1; left > 0; left -= 10_000)
    await runAll(add(Math.min(left, 10_000)), 4 * AT_A_TIME);
  const known = claim();
  await deliver(known);
  const { status } = await store.admit({ ...claim(), key: known.key });
  if (status !== 'duplicate') throw new Error(`A remembered event is ${status}.`);
  const each = ((await bytes()) - empty) / size;
  return {
    async turn(number: number) {
      await expire(number);
      return { ...(await costOf(add, number, AT_A_TIME)), 'bytes of an event': each };
    },
    stop: close,
  };
}

/** Webhook ids are soon forgotten, since a store has few of them beside the events of a day. */
const claim = (): Claim & { key: string } => ({
  webhookId: randomUUID(),
  key: `${randomBytes(12).toString('hex')}:call:completed`,
  token: randomUUID(),
  leaseMs: 60_000,
  replayUntil: Date.now() + 5_000,
});
