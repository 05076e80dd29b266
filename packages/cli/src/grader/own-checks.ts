import type { ClientRequest } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Sentence } from '@call-webhooks/contract';
import { CHECK_EVENT } from '@call-webhooks/recovery/internal';
import { describeResult } from '../http/effects.ts';
import { counted } from '../terminal/format.ts';
import {
  accepted,
  answered,
  type Check,
  effectKey,
  fail,
  type Finding,
  type GradedReceiver,
  isAcknowledged,
  pass,
  type TestEvent,
  wrong,
} from './receiver.ts';

const sentence = (section: string, text: string): Sentence => ({ section, text });

const SPEC = {
  timestamp: sentence(
    'Authentication, verification 2',
    "Reject if the timestamp is not a number or differs from the receiver's clock by more than 5 minutes.",
  ),
  replay: sentence(
    'Authentication, verification 4',
    'To reject replays, remember each accepted webhook id for at least 5 minutes and reject repeats.',
  ),
  twice: sentence(
    'Authentication, verification 4',
    'Retries arrive with new ids, so processing must be safe to run twice.',
  ),
  rotation: sentence(
    'Authentication, rotation',
    'Rotation: after a rotation the next delivery is signed with the new secret.',
  ),
  duplicates: sentence(
    'Events, rule 2',
    'Duplicates are skipped on the pair `callId` and `eventName`.',
  ),
  post: sentence(
    'Endpoints',
    'The service sends an HTTP POST to the receiver URL configured in the action.',
  ),
  acknowledge: sentence(
    'Errors, Any 2xx within 30 seconds',
    'Delivery acknowledged. Body ignored.',
  ),
  notFound: sentence(
    'Errors, 404',
    'Read as the URL no longer existing. The rule is paused at once without retry, and its owner is emailed (workspace admins for a workspace rule).',
  ),
  retried: sentence(
    'Errors, Any other status, no response within 30 seconds, or a connection error',
    'Retried about every 5 minutes, a limited number of times. The rule is paused if the last attempt fails.',
  ),
} as const;

/**
 * Writes a part of a body, and resolves when it has left this process, or when the connection is closed. A slow
 * machine may not be connected yet, and would send all parts at once, or none.
 */
const written = (request: ClientRequest, part: Uint8Array): Promise<void> =>
  new Promise((resolve) => {
    if (request.destroyed) {
      resolve();
      return;
    }
    request.once('close', resolve);
    request.write(part, () => {
      request.off('close', resolve);
      resolve();
    });
  });

/** The check of all secrets but the first. */
export const OTHER_SECRETS = 'secrets/others';
const COPIES = 5;
const COMMIT = 'Record an event as done only after its handler has succeeded.';
const LIVE = 'A broken request must not stop the receiver. Handle connection errors.';

/** Passes if the event had its effect exactly once. */
async function once(receiver: GradedReceiver, { callId, name }: TestEvent): Promise<Finding> {
  const [count = 0] = await receiver.effectsOf([effectKey(callId, name)]);
  if (count === 1) return pass('1 effect');
  const within = `within ${String(receiver.options.effectsWithinMs)} ms (--effects-within)`;
  return fail(count === 0 ? `no effect ${within}` : counted(count, 'effect'));
}

/** Retries an event, and passes if it had its effect exactly once. */
async function onceAfterRetry(receiver: GradedReceiver, event: TestEvent): Promise<Finding> {
  const result = await receiver.deliverUntilAcknowledged(event);
  return isAcknowledged(result) ? once(receiver, event) : accepted(result, ' for the retry');
}

/** Bodies that the service does not send. They are signed, and may become dead letters. */
const ODD_BODIES = (name: string): readonly (readonly [what: string, body: string | Buffer])[] => [
  ['a custom payload', '{"check":"custom payload"}'],
  ['broken JSON', `{"eventName":${JSON.stringify(name)}`],
  ['an empty body', ''],
  ['JSON that is not an object', '[null]'],
  ['fields of wrong types', '{"eventName":7,"callId":{"a":[]}}'],
  ['bytes that are not UTF-8', Buffer.from('{"eventName":"\u00ff"}', 'latin1')],
  ['JSON that is nested 20,000 deep', '['.repeat(20_000) + ']'.repeat(20_000)],
];

/** What no vector shows: races, deadlines, failures, and how bodies arrive. */
export const OWN_CHECKS: readonly Check[] = [
  {
    id: 'clock/of-the-receiver',
    title: "The receiver's clock is right",
    why: [SPEC.timestamp],
    fix: 'Synchronize the clock of the machine (NTP).',
    needs: ['secret'],
    run: ({ clockAhead = 0 }) =>
      Promise.resolve(
        Math.abs(clockAhead) > 60
          ? fail(`${String(clockAhead)} s ahead of this machine's`)
          : pass('within a minute'),
      ),
  },
  {
    id: OTHER_SECRETS,
    title: 'Deliveries that are signed with the other secrets',
    why: [SPEC.rotation],
    fix: 'Pass all secrets to the receiver: each webhook action has its own secret, and so does the recording webhook. During a rotation, keep the old secret as well.',
    needs: ['secret', 'otherSecrets'],
    async run(receiver) {
      const { otherSecrets = [], secretNumber = 1 } = receiver.options;
      for (const [at, secret] of otherSecrets.entries()) {
        const result = await receiver.send(receiver.sign(receiver.event().body, secret));
        const number = at + 1 < secretNumber ? at + 1 : at + 2;
        if (!isAcknowledged(result))
          return wrong(result, ` for secret ${number} of ${otherSecrets.length + 1}`);
      }
      return pass(`${otherSecrets.length} accepted`);
    },
  },
  {
    id: 'replays/after-others',
    title: 'A replay after 50 other deliveries',
    why: [SPEC.replay],
    fix: 'Remember each accepted webhook id for ten minutes. It is not enough to remember only the latest ones.',
    needs: ['secret'],
    async run(receiver) {
      const delivery = receiver.sign(receiver.event().body);
      const first = await receiver.send(delivery);
      if (!isAcknowledged(first)) return accepted(first, ' for the first');
      for (let round = 0; round < 50 / COPIES; round++)
        await Promise.all(Array.from({ length: COPIES }, () => receiver.deliver(receiver.event())));
      const replay = await receiver.send(delivery);
      return isAcknowledged(replay) ? fail(describeResult(replay)) : answered(replay);
    },
  },
  {
    id: 'replays/race',
    title: 'Five copies of one request at once',
    why: [SPEC.replay],
    fix: 'Check and remember the webhook id in one step, such as INSERT … ON CONFLICT DO NOTHING.',
    needs: ['secret'],
    async run(receiver) {
      const delivery = receiver.sign(receiver.event({ slowMs: 200 }).body);
      const { body } = delivery;
      let missing = COPIES;
      let begin: (() => void) | undefined;
      const together = new Promise<void>((resolve) => (begin = resolve));
      const results = await Promise.all(
        Array.from({ length: COPIES }, () =>
          receiver.send(delivery, {
            async sendBody(request) {
              await written(request, body.subarray(0, -1));
              if (--missing === 0) begin?.();
              await together;
              await pause(100);
              request.end(body.subarray(-1));
            },
          }),
        ),
      );
      const count = results.filter(isAcknowledged).length;
      const saw = `${String(count)} of ${String(COPIES)} acknowledged`;
      return count === 1 ? pass(saw) : fail(saw);
    },
  },
  {
    id: 'duplicates/race',
    title: 'Five copies of one event at once have one effect',
    why: [SPEC.duplicates],
    fix: 'Claim the key before the handler runs, in one step, such as INSERT … ON CONFLICT DO NOTHING.',
    needs: ['secret', 'runHandlers', 'effectsUrl'],
    async run(receiver) {
      const event = receiver.event({ slowMs: 300 });
      await Promise.all(Array.from({ length: COPIES }, () => receiver.deliver(event)));
      return onceAfterRetry(receiver, event);
    },
  },
  {
    id: 'events/unknown-event',
    title: 'An event that is new to the receiver is not answered with 404',
    why: [SPEC.notFound],
    fix: 'Acknowledge events that you do not handle. A 404 pauses the rule at once.',
    needs: ['secret'],
    async run(receiver) {
      const body = JSON.stringify({ eventName: CHECK_EVENT, callId: 'check.unknown' });
      return answered(await receiver.send(receiver.sign(body)));
    },
  },
  {
    id: 'events/odd-bodies',
    title: 'Bodies that the service does not send, signed',
    why: [SPEC.notFound],
    fix: 'Respond to these requests, but never with 404, and continue to serve others.',
    needs: ['secret', 'runHandlers'],
    async run(receiver) {
      for (const [what, body] of ODD_BODIES(receiver.eventName)) {
        const finding = answered(await receiver.send(receiver.sign(body)), ` for ${what}`);
        if (finding.result === 'fail') return finding;
      }
      return accepted(await receiver.deliver(receiver.event()), ' for a delivery after them');
    },
  },
  {
    id: 'failures/retry',
    title: 'The handler fails once: the retry runs it again',
    why: [SPEC.retried],
    fix: `${COMMIT} Return 500 when it fails.`,
    needs: ['secret', 'runHandlers', 'effectsUrl'],
    async run(receiver) {
      const event = receiver.event({ failures: 1 });
      const first = await receiver.deliver(event);
      if (first.kind === 'status' && first.status === 404) return answered(first, ' for a failure');
      // A queue acknowledges first, and then has to retry by itself.
      return isAcknowledged(first) ? once(receiver, event) : onceAfterRetry(receiver, event);
    },
  },
  {
    id: 'failures/while-running',
    title: 'A retry is not acknowledged before a running handler has succeeded',
    why: [SPEC.acknowledge],
    fix: `${COMMIT} Return 503 for a copy that arrives in the meantime.`,
    needs: ['secret', 'runHandlers', 'effectsUrl'],
    async run(receiver) {
      const event = receiver.event({ slowMs: 600, failures: 1 });
      // The answer of the first is lost, so only the copy's answer counts.
      const first = receiver.deliver(event);
      await receiver.pause(200);
      const copy = await receiver.deliver(event);
      await first;
      return isAcknowledged(copy) ? once(receiver, event) : onceAfterRetry(receiver, event);
    },
  },
  {
    id: 'failures/lost-response',
    title: 'The connection ends before the response: the retry is acknowledged',
    why: [SPEC.twice],
    fix: 'Acknowledge the retry of an event that was handled, and run a handler once for each key.',
    needs: ['secret'],
    async run(receiver) {
      const hasEffects = receiver.options.effectsUrl !== undefined;
      const event = receiver.event(hasEffects ? { slowMs: 100 } : {});
      await receiver.send(receiver.sign(event.body), {
        sendBody: (request) => void request.end(event.body, () => request.destroy()),
      });
      if (hasEffects) return onceAfterRetry(receiver, event);
      return accepted(await receiver.deliverUntilAcknowledged(event), ' for the retry');
    },
  },
  {
    id: 'failures/deadline',
    title: 'A handler that takes 33 s: there is a response within 30 s',
    why: [SPEC.retried],
    fix: 'Return 503 before 30 s have passed, or put the event into a queue and return 202.',
    needs: ['secret', 'runHandlers', 'effectsUrl'],
    async run(receiver) {
      const { acknowledgeWithinMs } = receiver.options;
      const event = receiver.event({ slowMs: Math.round(acknowledgeWithinMs * 1.1) });
      return answered(await receiver.deliver(event, acknowledgeWithinMs));
    },
  },
  {
    id: 'connections/slow-body',
    title: 'A body that arrives in pieces',
    why: [SPEC.post],
    fix: 'Read until the end of the body. One read may return only part of it.',
    needs: ['secret'],
    async run(receiver) {
      const { body } = receiver.event();
      const result = await receiver.send(receiver.sign(body), {
        async sendBody(request) {
          for (let at = 0; at < body.length; at += 40) {
            await written(request, body.subarray(at, at + 40));
            await pause(50);
          }
          request.end();
        },
      });
      return accepted(result);
    },
  },
  {
    id: 'connections/cut-body',
    title: 'A body that is cut off, then the whole delivery',
    why: [SPEC.retried],
    fix: LIVE,
    needs: ['secret'],
    async run(receiver) {
      const delivery = receiver.sign(receiver.event().body);
      await receiver.send(delivery, {
        async sendBody(request) {
          await written(request, delivery.body.subarray(0, -9));
          await pause(20);
          request.destroy();
        },
      });
      return accepted(await receiver.send(delivery));
    },
  },
];
