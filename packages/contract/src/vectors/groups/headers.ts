import { HEADERS, type AttemptChanges } from '../attempt.ts';
import { completed } from '../bodies.ts';
import type { Group } from '../group.ts';
import { SENTENCES } from '../sentences.ts';

const { requireHeaders, unsignedActions } = SENTENCES;

const without = (...names: string[]): AttemptChanges => ({
  headers: (headers) => headers.filter(([name]) => !names.includes(name)),
});
const empty = (empty: string): AttemptChanges => ({
  headers: (headers) => headers.map(([name, value]) => [name, name === empty ? '' : value]),
});
const renamed = (rename: (name: string) => string): AttemptChanges => ({
  headers: (headers) => headers.map(([name, value]) => [rename(name), value]),
});

const NAMES = [
  ['webhook-id', HEADERS.id],
  ['timestamp', HEADERS.timestamp],
  ['signature', HEADERS.signature],
] as const;

export const headers: Group = {
  name: 'headers',
  title: 'Headers',
  vectors({ one, callId }) {
    const body = completed(callId('call'));
    return [
      ...NAMES.flatMap(([short, name]) => [
        one('refuse', `no-${short}`, `There is no ${name}.`, [requireHeaders], body, without(name)),
        one('refuse', `empty-${short}`, `${name} is empty.`, [requireHeaders], body, empty(name)),
      ]),
      one(
        'refuse',
        'none',
        'None of the three headers, as from an action that was saved before signing was introduced.',
        [requireHeaders, unsignedActions],
        body,
        without(...Object.values(HEADERS)),
      ),
      one(
        'refuse',
        'other-names',
        'The headers have the names of Standard Webhooks: webhook-id, webhook-timestamp and webhook-signature.',
        [requireHeaders],
        body,
        renamed((name) =>
          name
            .toLowerCase()
            .replace('x-service-webhook-', 'x-service-')
            .replace('x-service', 'webhook'),
        ),
      ),
      ...(['toLowerCase', 'toUpperCase'] as const).map((change) => {
        const which = change === 'toLowerCase' ? 'lower' : 'upper';
        return one(
          'accept',
          `${which}-case`,
          `The names of the headers are in ${which} case. HTTP does not distinguish them.`,
          [requireHeaders],
          completed(callId(which)),
          renamed((name) => name[change]()),
        );
      }),
    ];
  },
};
