import fc from 'fast-check';
import type { Behaviour, Ending } from './transactions.ts';
import { eventsOf } from './service.ts';
import type { StoreFault } from './checked-store.ts';
import { TRANSACTION_ENDS } from './transactions.ts';
import type { World } from './world.ts';

/** The world is its own model: it predicts each outcome before it sends the request. */
type Step = fc.AsyncCommand<World, World>;

const step = (
  name: string,
  run: (world: World) => Promise<void>,
  can: (world: Readonly<World>) => boolean = () => true,
): Step => ({
  check: can,
  run: (_model, world) => run(world),
  toString: () => name,
});

const machine = fc.nat(1);
const eventIn = (hasTenants: boolean) => fc.constantFrom(...eventsOf(hasTenants).keys());
const any = fc.nat(1_000);
const behaviour = fc.constantFrom<Behaviour>('ok', 'fail', 'fail', 'slow');
const ending = fc.boolean().map((ok): Ending => (ok ? 'ok' : 'fail'));
/** The same where all handlers use `completeIn`. */
const transaction = fc.constantFrom<Behaviour>(
  ...([...TRANSACTION_ENDS, 'fail', 'fail', 'fail', 'slow', 'slow'] as const),
);
const transactionEnding = fc.constantFrom<Ending>(...TRANSACTION_ENDS, 'fail', 'fail');
const skew = fc.constantFrom(0, 0, 0, 0, 0, 0, 0, 299, 300, 301, -299, -300, -301);
const fault = fc.constantFrom<StoreFault>('none', 'none', 'down', 'hang', 'lost-reply');
const duration = fc.constantFrom(1_000, 21_000, 59_000, 61_000, 239_000, 241_000, 300_000, 601_000);

const deliver = (event: fc.Arbitrary<number>, does: fc.Arbitrary<Behaviour>) =>
  fc
    .tuple(machine, event, does, skew)
    .map((args) => step(`deliver(${args.join(', ')})`, (world) => world.deliver(...args)));

const retry = (does: fc.Arbitrary<Behaviour>) =>
  fc.tuple(machine, any, does).map((args) =>
    step(
      `retry(${args.join(', ')})`,
      (world) => world.retry(...args),
      (world) => world.unacknowledged.length > 0,
    ),
  );

/** By an attacker. */
const replay = fc.tuple(machine, any).map((args) =>
  step(
    `replay(${args.join(', ')})`,
    (world) => world.replay(...args),
    (world) => world.service.sentCount > 0,
  ),
);

/** By somebody who has a secret of another tenant. */
const stray = fc.tuple(machine, any).map((args) =>
  step(
    `stray(${args.join(', ')})`,
    (world) => world.stray(...args),
    (world) => world.service.sentCount > 0,
  ),
);

const finish = (how: fc.Arbitrary<Ending>) =>
  fc.tuple(any, how).map((args) =>
    step(
      `finish(${args.join(', ')})`,
      (world) => world.finish(...args),
      (world) => world.runningCount > 0,
    ),
  );

/** Each duration is just before or after the end of a deadline or a lease. */
const advance = duration.map((ms) => step(`advance(${String(ms)})`, (world) => world.advance(ms)));

/** A lease expires under its handler, another machine takes the event over, then the first handler ends. */
const outliveLease = (event: fc.Arbitrary<number>, how: fc.Arbitrary<Ending>) =>
  fc.tuple(machine, event, how).map(([at, of, ending]) =>
    step(`outlive(${[at, of, ending].join(', ')})`, async (world) => {
      await world.deliver(at, of, 'slow', 0);
      const first = Math.max(0, world.runningCount - 1);
      await world.advance(241_000);
      await world.deliver(at + 1, of, 'slow', 0);
      if (world.runningCount > 0) await world.finish(first, ending);
    }),
  );

/** Two events of one call arrive together, and the first one takes a while. */
const contend = fc
  .tuple(machine, machine, fc.nat(1), behaviour, fc.constantFrom(40, 700, 5_000, 19_000), any)
  .map(([at, otherAt, of, then, ms, which]) =>
    step(`contend(${[at, otherAt, of, then, ms, which].join(', ')})`, async (world) => {
      await world.deliver(at, of, 'slow', 0);
      await world.deliver(otherAt, 1 - of, then, 0);
      await world.deliver(at, 1 - of, then, 0);
      await world.advance(ms);
      if (world.runningCount > 0) await world.finish(which, which % 3 > 0 ? 'ok' : 'fail');
      await world.advance(600);
    }),
  );

/** A machine closes while a delivery waits there for what another one runs. */
const closeWhileWaiting = fc.tuple(machine, fc.nat(1)).map(([at, of]) =>
  step(`closeWhileWaiting(${[at, of].join(', ')})`, async (world) => {
    await world.deliver(at, of, 'slow', 0);
    await world.deliver(at + 1, 1 - of, 'ok', 0);
    await world.close(at + 1, 2);
  }),
);

const crash = machine.map((at) => step(`crash(${String(at)})`, (world) => world.crash(at)));

const close = (event: fc.Arbitrary<number>) =>
  fc
    .tuple(machine, event)
    .map((args) => step(`close(${args.join(', ')})`, (world) => world.close(...args)));

const setFault = fc.tuple(machine, fault).map(([at, kind]) =>
  step(`store(${String(at)}, '${kind}')`, (world) => {
    world.setFault(at, kind);
    return Promise.resolve();
  }),
);

const setSinkFault = fc.tuple(machine, fc.boolean()).map(([at, fails]) =>
  step(`sink(${String(at)}, ${fails ? 'down' : 'up'})`, (world) => {
    world.setSinkFault(at, fails);
    return Promise.resolve();
  }),
);

/** Longer than a lease, a deadline and the tolerance, both ways. */
const clockSteps = fc.constantFrom(1_000, -1_000, 61_000, -61_000, 301_000, 3_600_000, -3_600_000);
const stepClock = clockSteps.map((ms) =>
  step(
    `stepClock(${String(ms)})`,
    (world) => world.stepClock(ms),
    (world) => world.canStepClock,
  ),
);

const rotate = fc.constant(
  step('rotate()', async (world) => {
    // A receiver asks its provider for newer secrets at most once in five seconds.
    await world.advance(5_001);
    world.service.rotate();
  }),
);

export interface ScenarioOptions {
  /** Whether events of one call often arrive together. */
  contention?: boolean;
  /** Whether all handlers use `completeIn`. */
  transactions?: boolean;
  /** Whether two tenants share the receivers. */
  hasTenants?: boolean;
}

/** Random scenarios with a few machines, in which deliveries are several times as likely as faults. */
export function scenarios(
  maxCommands: number,
  { contention = false, transactions = false, hasTenants = false }: ScenarioOptions,
): fc.Arbitrary<Iterable<Step>> {
  const does = transactions ? transaction : behaviour;
  const how = transactions ? transactionEnding : ending;
  const event = eventIn(hasTenants);
  const [delivery, end] = [deliver(event, does), finish(how)];
  return fc.commands(
    [
      ...[delivery, delivery, delivery, delivery, retry(does), end, end, advance, advance, replay],
      ...[outliveLease(event, how), setFault, setSinkFault, stepClock, crash, close(event), rotate],
      ...(contention ? [contend, contend, contend, closeWhileWaiting] : []),
      ...(hasTenants ? [stray] : []),
    ],
    { maxCommands, size: 'max' },
  );
}
