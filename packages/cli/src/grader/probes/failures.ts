import { answered, described, found, isAcknowledged } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { requestBytes } from '../request-bytes.ts';
import { SPEC } from '../spec.ts';
import { once } from './duplicates.ts';

const needs = ['secret', 'handlers', 'effects'] as const;
const COMMIT = 'Record an event as done only after its handler has succeeded.';

export const failures: readonly Probe[] = [
  {
    id: 'retry-after-failure',
    group: 'failures',
    title: 'The handler fails once: the retry runs it again',
    spec: SPEC.retried,
    fix: `${COMMIT} Answer 500 when it fails.`,
    weight: 10,
    needs,
    async run(receiver) {
      const event = receiver.event({ failures: 1 });
      const first = await receiver.deliver(event);
      if (first.status === 404) return found.fail('404 for a failure pauses the rule');
      // A queue acknowledges first, and then has to retry by itself.
      if (isAcknowledged(first)) return once(receiver, event);
      const answer = await receiver.deliverUntilAcknowledged(event);
      if (!isAcknowledged(answer)) return found.fail(`${described(answer)} for the retry`);
      return once(receiver, event);
    },
  },
  {
    id: 'acknowledged-while-running',
    group: 'failures',
    title: 'A retry is not acknowledged before a running handler has succeeded',
    spec: SPEC.acknowledge,
    fix: `${COMMIT} Answer a copy that comes meanwhile with 503.`,
    weight: 5,
    needs,
    async run(receiver) {
      const event = receiver.event({ slowMs: 600, failures: 1 });
      // The answer of the first is lost, so only the copy's answer counts.
      const first = receiver.deliver(event);
      await receiver.pause(200);
      const copy = await receiver.deliver(event);
      await first;
      if (!isAcknowledged(copy)) {
        const answer = await receiver.deliverUntilAcknowledged(event);
        if (!isAcknowledged(answer)) return found.fail(`${described(answer)} for the retry`);
      }
      return once(receiver, event);
    },
  },
  {
    id: 'lost-answer',
    group: 'failures',
    title: 'The connection ends before the answer: the retry is recognized',
    spec: SPEC.twice,
    fix: 'Acknowledge the retry of an event that is done, and run a handler once for each key.',
    weight: 8,
    needs,
    async run(receiver) {
      const event = receiver.event({ slowMs: 100 });
      const bytes = requestBytes(receiver.url, receiver.sign(event.body));
      await receiver.exchange([bytes, 'cut']);
      const answer = await receiver.deliverUntilAcknowledged(event);
      if (!isAcknowledged(answer)) return found.fail(`${described(answer)} for the retry`);
      return once(receiver, event);
    },
  },
  {
    id: 'lost-answer-retry',
    group: 'failures',
    title: 'The connection ends before the answer: the retry is acknowledged',
    spec: SPEC.twice,
    fix: 'Acknowledge the retry of an event that was handled, or handle it then.',
    weight: 4,
    needs: ['secret'],
    async run(receiver) {
      const event = receiver.event();
      const bytes = requestBytes(receiver.url, receiver.sign(event.body));
      await receiver.exchange([bytes, 'cut']);
      const answer = await receiver.deliverUntilAcknowledged(event);
      return isAcknowledged(answer)
        ? found.pass(described(answer))
        : found.fail(`${described(answer)} for the retry`);
    },
  },
  {
    id: 'deadline',
    group: 'failures',
    title: 'A handler that takes 33 s: there is an answer within 30 s',
    spec: SPEC.retried,
    fix: 'Answer 503 before 30 s have passed, or put the event into a queue and answer 202.',
    weight: 4,
    needs,
    background: true,
    async run(receiver) {
      const { acknowledgeWithinMs: timeoutMs } = receiver.options;
      const event = receiver.event({ slowMs: timeoutMs * 1.1 });
      const bytes = requestBytes(receiver.url, receiver.sign(event.body));
      return answered(await receiver.exchange([bytes], { timeoutMs }));
    },
  },
];
