import fc from 'fast-check';
import { LEASE_MS, POLL_MS } from './queue-process.ts';
import type { Behaviour } from './queued-job.ts';
import type { QueueWorld } from './queue-world.ts';

/** The world contains its model. */
type Step = fc.AsyncCommand<QueueWorld, QueueWorld>;

const step = (
  name: string,
  args: readonly unknown[],
  run: (world: QueueWorld) => Promise<void>,
  can: (world: Readonly<QueueWorld>) => boolean = () => true,
): Step => ({
  check: can,
  run: (_model, world) => run(world),
  toString: () => `${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`,
});

const process = fc.nat(1);
const call = fc.nat(5);
const any = fc.nat(1_000);
const behaviour = fc.constantFrom<Behaviour>('ok', 'fail', 'fail', 'fail', 'slow', 'slow');
const plan = fc.array(behaviour, { minLength: 1, maxLength: 6 });
const duration = fc.constantFrom(100, 1_100, 5_000, 19_000, 21_000, 59_000, 61_000, 130_000);
const clockSteps = fc.constantFrom(1_000, -1_000, 61_000, -61_000, 3_600_000, -3_600_000);

const enqueue = fc
  .tuple(process, call, plan)
  .map((args) => step('enqueue', args, (world) => world.enqueue(...args)));

const finish = fc.tuple(any, fc.boolean()).map((args) =>
  step(
    'finish',
    args,
    (world) => world.finish(...args),
    (world) => world.runningCount > 0,
  ),
);

const advance = duration.map((ms) => step('advance', [ms], (world) => world.advance(ms)));

const stepClock = clockSteps.map((ms) => step('stepClock', [ms], (world) => world.stepClock(ms)));

const crash = process.map((at) => step('crash', [at], (world) => world.crash(at)));

/** Each process that takes the job dies, and so the job is given up. */
const crashEachTime = call.map((which) =>
  step('crashEachTime', [which], async (world) => {
    await world.enqueue(0, which, Array<Behaviour>(6).fill('slow'));
    for (let times = 0; times < 5; times++) {
      await world.crash(0);
      await world.crash(1);
      await world.advance(LEASE_MS + POLL_MS);
    }
  }),
);

/** The clock is set back while a job has the lease of a dead process. */
const crashAndSetBack = call.map((which) =>
  step('crashAndSetBack', [which], async (world) => {
    await world.enqueue(0, which, ['slow']);
    await world.crash(0);
    await world.crash(1);
    await world.stepClock(-3_600_000);
  }),
);

/** The clock is set forward, another process takes the job over, then the first handler ends. */
const outliveLease = fc.tuple(call, fc.boolean()).map(([which, ok]) =>
  step('outliveLease', [which, ok], async (world) => {
    await world.enqueue(0, which, ['slow', 'slow']);
    const first = Math.max(0, world.runningCount - 1);
    await world.stepClock(LEASE_MS + 1_000);
    await world.advance(POLL_MS);
    if (world.runningCount > 0) await world.finish(first, ok);
  }),
);

const close = process.map((at) => step('close', [at], (world) => world.close(at)));

const setSinkFault = fc.boolean().map((fails) =>
  step('setSinkFault', [fails], (world) => {
    world.setSinkFault(fails);
    return Promise.resolve();
  }),
);

const hasDead = (world: Readonly<QueueWorld>) => world.deadCount > 0;

const retryDead = fc
  .tuple(process, any, plan)
  .map((args) => step('retryDead', args, (world) => world.retryDead(...args), hasDead));

const discardDead = fc
  .tuple(process, any)
  .map((args) => step('discardDead', args, (world) => world.discardDead(...args), hasDead));

/** Random scenarios of two processes on one queue. */
export const queueScenarios = (maxCommands: number): fc.Arbitrary<Iterable<Step>> =>
  fc.commands(
    [
      ...[enqueue, enqueue, enqueue, advance, advance, advance],
      ...[finish, finish, retryDead, retryDead, setSinkFault, crash],
      ...[stepClock, close, close, crashEachTime, crashAndSetBack, outliveLease, discardDead],
    ],
    { maxCommands, size: 'max' },
  );
