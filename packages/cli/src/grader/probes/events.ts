import { accepted, answered, isAcknowledged, notedUnless, worst } from '../findings.ts';
import type { Probe } from '../probe.ts';
import { SPEC } from '../spec.ts';

const needsHandlers = ['secret', 'handlers'] as const;
const needs = ['secret'] as const;
const ACKNOWLEDGE = 'Acknowledge this event with 2xx.';

const event = (id: string, name: string): Probe => ({
  id,
  group: 'events',
  title: `${name} is acknowledged`,
  spec: SPEC.acknowledge,
  fix: ACKNOWLEDGE,
  weight: 3,
  needs: needsHandlers,
  run: async (receiver) => accepted(await receiver.deliver(receiver.event({ name }))),
});

/** An authentic body that the service does not send. The receiver has to survive it; it may become a dead letter. */
const odd = (id: string, title: string, body: (name: string) => string | Uint8Array): Probe => ({
  id,
  group: 'events',
  title,
  spec: SPEC.notFound,
  fix: 'Answer it, but never with 404, and go on serving others.',
  weight: 1,
  needs: needsHandlers,
  async run(receiver) {
    const { name } = receiver.event();
    const first = await receiver.send(receiver.sign(body(name)));
    return worst(accepted(await receiver.deliver(receiver.event())), answered(first));
  },
});

export const events: readonly Probe[] = [
  event('call-started', 'call:started'),
  event('call-completed', 'call:completed'),
  event('recording-available', 'call:recording-available'),
  {
    id: 'unknown-fields',
    group: 'events',
    title: 'Fields that are new to the receiver',
    spec: SPEC.fields,
    fix: 'Do not use a strict schema: ignore fields that you do not know.',
    weight: 8,
    needs,
    async run(receiver) {
      const fields = { addedLater: { deep: [1, null] }, __proto: 1, constructor: 'x' };
      return accepted(await receiver.deliver(receiver.event({ fields })));
    },
  },
  {
    id: 'optional-fields',
    group: 'events',
    title: 'A body without the optional fields',
    spec: SPEC.optional,
    fix: 'Do not require fields that the interface marks as optional.',
    weight: 5,
    needs: needsHandlers,
    async run(receiver) {
      const { callId, name } = receiver.event();
      const body = JSON.stringify({
        eventName: name,
        callId,
        [receiver.names.placedBy]: 'check.user',
      });
      return accepted(await receiver.send(receiver.sign(body)));
    },
  },
  {
    id: 'unknown-event',
    group: 'events',
    title: 'An event that is new to the receiver',
    spec: SPEC.notFound,
    fix: 'Acknowledge events that you do not handle. A 404 pauses the rule at once; other errors pause it after the last retry.',
    weight: 3,
    needs,
    async run(receiver) {
      const answer = await receiver.deliver(receiver.event({ name: 'call-webhooks:check' }));
      // The interface names three events, so an error for another one costs nothing.
      return answer.status === 404 ? accepted(answer) : notedUnless(isAcknowledged, answer);
    },
  },
  {
    id: 'custom-payload',
    group: 'events',
    title: 'A custom payload, which has no eventName',
    spec: SPEC.notFound,
    fix: 'Answer it, but never with 404. Return 2xx if your action defines a custom payload.',
    weight: 2,
    // A handler for custom payloads would run.
    needs: needsHandlers,
    async run(receiver) {
      const answer = await receiver.send(receiver.sign('{"check":"custom payload"}'));
      // Only actions that define a custom payload send one.
      return answer.status === 404 ? accepted(answer) : notedUnless(isAcknowledged, answer);
    },
  },
  odd('broken-json', 'Broken JSON, signed', (name) => `{"eventName":${JSON.stringify(name)}`),
  odd('empty-body', 'An empty body, signed', () => ''),
  odd('not-an-object', 'JSON that is no object, signed', () => '[null]'),
  odd('wrong-types', 'Fields of wrong types, signed', () => '{"eventName":7,"callId":{"a":[]}}'),
  odd('not-utf-8', 'A body that is not UTF-8, signed', () =>
    Buffer.from('{"eventName":"\u00ff"}', 'latin1'),
  ),
  odd('deep-json', 'JSON that is nested 20,000 deep, signed', () => {
    const depth = 20_000;
    return `${'['.repeat(depth)}${']'.repeat(depth)}`;
  }),
  {
    id: 'large-body',
    group: 'events',
    title: 'A body of 2 MB, signed',
    spec: SPEC.notShown,
    fix: 'The size of bodies is not shown. Set a limit, and refuse what is larger.',
    weight: 0,
    needs,
    async run(receiver) {
      const fields = { padding: 'x'.repeat(2_000_000) };
      const { body } = receiver.event({ name: 'call-webhooks:check', fields });
      const answer = await receiver.send(receiver.sign(body));
      return notedUnless(({ status }) => status !== undefined && status !== 404, answer);
    },
  },
];
