import type { ChaosSettings } from '@call-webhooks/simulator';
import type { Control } from './control.ts';

/** One step of the tour. */
export interface Step {
  readonly title: string;
  /** The faults injected into the first request of this step only. */
  readonly chaos?: Partial<ChaosSettings>;
  readonly run: (control: Control) => Promise<unknown>;
  /** The expected responses, in any order. */
  readonly expected: readonly string[];
}

const start = (control: Control) => control.startCall({});

/** The receiver's URL, and the secrets that its webhooks are signed with. */
export interface Target {
  readonly url: string;
  readonly secrets: Readonly<Record<'started' | 'completed' | 'recording', string>>;
}

/** Everything that a receiver encounters. */
export const stepsFor = ({ url, secrets }: Target): readonly Step[] => [
  {
    title: 'A recorded call: its recording is announced before call:completed',
    run: (control) => control.placeCall({ durationSeconds: 20 }),
    expected: ['200 handled', '200 handled', '200 handled'],
  },
  {
    title: 'The CRM is down while a handler runs: the service retries',
    run: (control) =>
      control.placeCall({ durationSeconds: 20, recorded: false, calledName: 'Ola Berg' }),
    expected: ['200 handled', '500 handler-failed', '200 handled'],
  },
  {
    title: 'The same event twice, and a captured request that is replayed',
    chaos: { duplicate: 1, replay: 1 },
    run: start,
    expected: ['200 handled', '409 replayed', '200 duplicate'],
  },
  {
    title: 'A response is lost: the event is not handled twice',
    chaos: { dropResponse: 1 },
    run: start,
    expected: ['200 handled, lost', '200 duplicate'],
  },
  {
    title: 'Forged: signed with an unknown secret',
    chaos: { wrongSecret: 1 },
    run: start,
    expected: ['401 signature-mismatch', '200 handled'],
  },
  {
    title: 'Stale: signed by a clock that is more than five minutes off',
    chaos: { clockSkew: 1 },
    run: start,
    expected: ['401 timestamp-out-of-tolerance', '200 handled'],
  },
  {
    title: 'Two custom payloads: one for a ticket, one with an unknown event',
    run: async (control) => {
      const ticket = { ticket: 'T-{{callId}}', note: 'call {{calledName}} back' };
      const unknown = { eventName: 'call:transferred', callId: '{{callId}}' };
      const { _id } = await control.createRule({
        name: 'Custom payloads',
        trigger: 'call:started',
        actions: [ticket, unknown].map((payload) => ({ url, secret: secrets.started, payload })),
      });
      await start(control);
      await control.settled();
      await control.pauseRule(_id);
    },
    expected: ['200 handled', '200 handled', '200 ignored'],
  },
];
