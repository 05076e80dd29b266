import { accepted, described, found, isAcknowledged, refused, worst } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { requestBytes } from '../request-bytes.ts';
import { SPEC } from '../spec.ts';

const REMEMBER =
  'Remember each accepted webhook id for as long as its signature verifies, ten minutes, and refuse repeats, such as with 409.';
const needs = ['secret'] as const;
const COPIES = 5;

export const replays: readonly Probe[] = [
  {
    id: 'replay',
    group: 'replay',
    title: 'The same request twice',
    spec: SPEC.replay,
    fix: REMEMBER,
    weight: 10,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const delivery = receiver.sign(receiver.event().body);
      const first = await receiver.send(delivery);
      if (!isAcknowledged(first)) return found.fail(`${described(first)} for the first`);
      return refused(await receiver.send(delivery));
    },
  },
  {
    id: 'replay-old',
    group: 'replay',
    title: 'A replay of a delivery that was signed four minutes ago',
    spec: SPEC.replay,
    fix: REMEMBER,
    weight: 2,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const timestamp = receiver.now() - 240;
      const delivery = receiver.sign(receiver.event().body, { timestamp });
      const first = await receiver.send(delivery);
      if (!isAcknowledged(first)) return found.fail(`${described(first)} for the first`);
      return refused(await receiver.send(delivery));
    },
  },
  {
    id: 'replay-after-others',
    group: 'replay',
    title: 'A replay after 50 other deliveries',
    spec: SPEC.replay,
    fix: `${REMEMBER} A memory of the last few ids is not enough.`,
    weight: 3,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const delivery = receiver.sign(receiver.event().body);
      const first = await receiver.send(delivery);
      if (!isAcknowledged(first)) return found.fail(`${described(first)} for the first`);
      for (let round = 0; round < 10; round++)
        await Promise.all(Array.from({ length: COPIES }, () => receiver.deliver(receiver.event())));
      return refused(await receiver.send(delivery));
    },
  },
  {
    id: 'replay-race',
    group: 'replay',
    title: 'Five copies of one request at once',
    spec: SPEC.replay,
    fix: 'Check and remember the webhook id in one step, such as INSERT … ON CONFLICT DO NOTHING.',
    weight: 5,
    needs,
    provesRefusal: true,
    async run(receiver) {
      const delivery = receiver.sign(receiver.event({ slowMs: 200 }).body);
      const bytes = requestBytes(receiver.url, delivery);
      // The last byte goes out on all connections at once.
      const steps = [bytes.subarray(0, -1), { wait: 100 }, bytes.subarray(-1)] as const;
      const answers = await Promise.all(
        Array.from({ length: COPIES }, () => receiver.exchange(steps)),
      );
      const count = answers.filter(isAcknowledged).length;
      const saw = `${count} of ${COPIES} acknowledged`;
      return count === 1 ? found.pass(saw) : found.fail(saw);
    },
  },
  {
    id: 'forged-first',
    group: 'replay',
    title: 'A forged delivery does not use up its webhook id',
    spec: SPEC.replay,
    fix: 'Remember a webhook id only after its signature has been verified.',
    weight: 5,
    needs,
    async run(receiver) {
      const delivery = receiver.sign(receiver.event().body);
      const forged = { ...delivery, signature: `v1,${Buffer.alloc(32).toString('base64')}` };
      await receiver.send(forged);
      return accepted(await receiver.send(delivery));
    },
  },
  {
    id: 'retry',
    group: 'replay',
    title: 'A retry of the same event with a new webhook id',
    spec: SPEC.twice,
    fix: 'Acknowledge an event that is done with 2xx, as the service retries everything else.',
    weight: 10,
    needs,
    async run(receiver) {
      const event = receiver.event();
      const first = await receiver.deliver(event);
      return worst(accepted(first), accepted(await receiver.deliver(event)));
    },
  },
  {
    id: 'later-retry',
    group: 'replay',
    title: 'The third and fourth delivery of one event',
    spec: SPEC.twice,
    fix: 'Acknowledge an event that is done with 2xx, however often it comes.',
    weight: 3,
    needs,
    async run(receiver) {
      const event = receiver.event();
      for (let count = 0; count < 3; count++) await receiver.deliver(event);
      return accepted(await receiver.deliver(event));
    },
  },
];
