import { accepted, described, found, isAcknowledged, refused, type Finding } from '../findings.ts';
import type { Answer } from '../exchange.ts';
import type { Delivery } from '../delivery.ts';
import type { Need, Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';
import type { TestedReceiver } from '../tested-receiver.ts';
import type { TestEvent } from '../test-events.ts';
import { once } from './duplicates.ts';

const DURABLE = 'Keep it in a database rather than in the memory of the process.';
const withRestart = ['secret', 'restart'] as const satisfies readonly Need[];
const withEffects = [...withRestart, 'handlers', 'effects'] as const satisfies readonly Need[];
/** How long the handler of the event takes that is running when the receiver is restarted. */
const SLOW_MS = 2_000;
/** How long a request takes to reach the handler. */
const BEGIN_MS = 300;

/** How long the receiver may take to be back. */
const withinMs = ({ options }: TestedReceiver): number =>
  options.restartWithinMs ?? options.retryForMs;

/** What was sent before the receiver was restarted, and the first answer after it. */
interface Restarted {
  readonly delivery: Delivery;
  readonly deliveryAnswer: Answer;
  readonly done: TestEvent;
  readonly running: TestEvent;
  /** Why nothing can be said about effects. */
  readonly effectsLost: boolean;
  readonly firstAnswer: Answer;
}

/** The receiver is restarted once, for all probes. */
const restarts = new WeakMap<TestedReceiver, Promise<Restarted>>();

function restarted(receiver: TestedReceiver): Promise<Restarted> {
  let pending = restarts.get(receiver);
  if (!pending) restarts.set(receiver, (pending = restart(receiver)));
  return pending;
}

async function restart(receiver: TestedReceiver): Promise<Restarted> {
  const { options } = receiver;
  const done = receiver.event();
  const delivery = receiver.sign(done.body);
  const deliveryAnswer = await receiver.send(delivery);
  await receiver.deliverUntilAcknowledged(done);
  const hasEffects = options.effectsUrl !== undefined;
  const before = hasEffects ? await receiver.settledEffectsOf([done]) : [];
  const running = receiver.event({ slowMs: SLOW_MS });
  const interrupted = receiver.deliver(running);
  interrupted.catch(() => undefined); // awaited below, unless the restart fails
  await receiver.pause(BEGIN_MS);
  await options.restart?.(options.signal);
  await interrupted;
  const within = withinMs(receiver);
  const firstAnswer = await receiver.deliverUntilAcknowledged(receiver.event(), within);
  const effectsLost =
    hasEffects && before[0] !== 0 && isAcknowledged(firstAnswer)
      ? (await receiver.effectsOf(done)) === 0
      : false;
  return { delivery, deliveryAnswer, done, running, effectsLost, firstAnswer };
}

/** Judges effects, if they survived. */
async function onceAfterRestart(
  receiver: TestedReceiver,
  { effectsLost }: Restarted,
  event: TestEvent,
): Promise<Finding> {
  if (effectsLost) return found.skipped('the list of effects did not survive the restart');
  const within = withinMs(receiver);
  const answer = await receiver.deliverUntilAcknowledged(event, within);
  if (!isAcknowledged(answer))
    return found.fail(`${described(answer)} for ${String(within)} ms (--restart-within)`);
  return once(receiver, event);
}

export const afterRestart: readonly Probe[] = [
  {
    id: 'restart',
    group: 'restart',
    title: 'A delivery after a restart',
    spec: SPEC.acknowledge,
    fix: 'Let the process start by itself, and wait for its database.',
    weight: 5,
    needs: withRestart,
    last: true,
    async run(receiver) {
      return accepted((await restarted(receiver)).firstAnswer);
    },
  },
  {
    id: 'restart-replay',
    group: 'restart',
    title: 'A replay of a delivery from before the restart',
    spec: SPEC.replay,
    fix: `Remember each accepted webhook id for ten minutes. ${DURABLE}`,
    weight: 5,
    needs: withRestart,
    last: true,
    provesRefusal: true,
    async run(receiver) {
      const { delivery, deliveryAnswer, firstAnswer } = await restarted(receiver);
      if (!isAcknowledged(deliveryAnswer))
        return found.fail(`${described(deliveryAnswer)} for the first`);
      if (!isAcknowledged(firstAnswer)) return accepted(firstAnswer);
      return refused(await receiver.send(delivery));
    },
  },
  {
    id: 'restart-duplicate',
    group: 'restart',
    title: 'An event from before the restart has one effect',
    spec: SPEC.duplicates,
    fix: `Record callId and eventName together with the effect. ${DURABLE}`,
    weight: 5,
    needs: withEffects,
    last: true,
    async run(receiver) {
      const state = await restarted(receiver);
      return onceAfterRestart(receiver, state, state.done);
    },
  },
  {
    id: 'restart-running',
    group: 'restart',
    title: 'The retry of an event that was running when the receiver stopped',
    spec: SPEC.retried,
    fix: 'Let a claim run out when its process is gone, and let the retry run the handler.',
    weight: 5,
    needs: withEffects,
    last: true,
    async run(receiver) {
      const state = await restarted(receiver);
      const finding = await onceAfterRestart(receiver, state, state.running);
      if (finding.result !== 'fail') return finding;
      // A process that ends between the effect and its record runs the event again: at least once.
      return (await receiver.effectsOf(state.running)) > 1 ? found.note(finding.saw) : finding;
    },
  },
];
