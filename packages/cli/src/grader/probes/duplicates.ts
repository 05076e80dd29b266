import { described, found, isAcknowledged, type Finding } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';
import type { TestedReceiver } from '../tested-receiver.ts';
import type { TestEvent } from '../test-events.ts';

const needs = ['secret', 'handlers', 'effects'] as const;
const COPIES = 5;

const times = (count: number) => `${count} ${count === 1 ? 'effect' : 'effects'}`;

/** Passes if the event had its effect exactly once. */
export async function once(receiver: TestedReceiver, ...events: TestEvent[]): Promise<Finding> {
  const counts = await receiver.settledEffectsOf(events);
  const wrong = counts.findIndex((count) => count !== 1);
  const count = counts[wrong];
  if (count === undefined) return found.pass('1 effect each');
  const within = `within ${String(receiver.options.effectsWithinMs)} ms (--effects-within)`;
  const saw = `${times(count)} of ${String(events[wrong]?.name)}`;
  return found.fail(count === 0 ? `${saw} ${within}` : saw);
}

/** Delivers events in this order, then looks at their effects. */
async function afterDeliveries(receiver: TestedReceiver, ...events: TestEvent[]): Promise<Finding> {
  for (const event of events) {
    const answer = await receiver.deliverUntilAcknowledged(event);
    if (!isAcknowledged(answer)) return found.fail(`${described(answer)} for ${event.name}`);
  }
  return once(receiver, ...new Set(events));
}

export const duplicates: readonly Probe[] = [
  {
    id: 'duplicate',
    group: 'duplicates',
    title: 'The same call event twice has one effect',
    spec: SPEC.duplicates,
    fix: 'Record callId and eventName together with the effect, and skip what is recorded.',
    weight: 10,
    needs,
    run(receiver) {
      const event = receiver.event();
      return afterDeliveries(receiver, event, event, event);
    },
  },
  {
    id: 'duplicate-recording',
    group: 'duplicates',
    title: 'The same recording event twice has one effect',
    spec: SPEC.recordingId,
    fix: 'Record the eventId of recordings, and skip what is recorded.',
    weight: 5,
    needs,
    run(receiver) {
      const event = receiver.event({ name: 'call:recording-available' });
      return afterDeliveries(receiver, event, event);
    },
  },
  {
    id: 'duplicate-other-bytes',
    group: 'duplicates',
    title: 'The same call event in other bytes has one effect',
    spec: SPEC.duplicates,
    fix: 'Recognize duplicates by callId and eventName, not by a hash of the body.',
    weight: 4,
    needs,
    async run(receiver) {
      const event = receiver.event();
      await receiver.deliverUntilAcknowledged(event);
      const again = { ...event, body: Buffer.from(` ${event.body.toString()}\n`) };
      await receiver.deliverUntilAcknowledged(again);
      return once(receiver, event);
    },
  },
  {
    id: 'events-of-one-call',
    group: 'duplicates',
    title: 'All three events of one call have their effect',
    spec: SPEC.duplicates,
    fix: 'Use callId and eventName together as the key. callId alone is not enough.',
    weight: 8,
    needs,
    run(receiver) {
      const started = receiver.event({ name: 'call:started' });
      const { callId } = started;
      return afterDeliveries(
        receiver,
        started,
        receiver.event({ name: 'call:recording-available', callId }),
        receiver.event({ name: 'call:completed', callId }),
      );
    },
  },
  {
    id: 'out-of-order',
    group: 'duplicates',
    title: 'Events of one call in the wrong order',
    spec: SPEC.order,
    fix: 'Handle each event by itself. The recording often comes before call:completed.',
    weight: 5,
    needs,
    run(receiver) {
      const recording = receiver.event({ name: 'call:recording-available' });
      const { callId } = recording;
      return afterDeliveries(
        receiver,
        recording,
        receiver.event({ name: 'call:completed', callId }),
        receiver.event({ name: 'call:started', callId }),
      );
    },
  },
  {
    id: 'race',
    group: 'duplicates',
    title: 'Five copies of one event at once have one effect',
    spec: SPEC.duplicates,
    fix: 'Claim the key before the handler runs, in one step, such as INSERT … ON CONFLICT DO NOTHING.',
    weight: 8,
    needs,
    async run(receiver) {
      const event = receiver.event({ slowMs: 300 });
      await Promise.all(Array.from({ length: COPIES }, () => receiver.deliver(event)));
      const answer = await receiver.deliverUntilAcknowledged(event);
      if (!isAcknowledged(answer)) return found.fail(`${described(answer)} for the retry`);
      return once(receiver, event);
    },
  },
  {
    id: 'no-effect-of-refused',
    group: 'duplicates',
    title: 'No forged, stale or changed delivery had an effect',
    spec: SPEC.compare,
    fix: 'Verify the signature before anything else.',
    weight: 10,
    needs,
    last: true,
    provesRefusal: true,
    async run(receiver) {
      let count = 0;
      for (const event of receiver.refusedEvents) count += await receiver.effectsOf(event);
      return count === 0 ? found.pass('0 effects') : found.fail(times(count));
    },
  },
];
