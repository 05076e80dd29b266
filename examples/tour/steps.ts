import type { ChaosSettings } from '@call-webhooks/simulator';
import type { Control } from './control.ts';

/** A part of the tour. */
export interface Step {
  readonly title: string;
  /** What is done to the first request of this step, and not to those after it. */
  readonly chaos?: Partial<ChaosSettings>;
  readonly run: (control: Control) => Promise<unknown>;
  /** The answers that must be seen, in any order. */
  readonly expected: readonly string[];
}

const start = (control: Control) => control.startCall({});

/**
 * Everything that a receiver meets in its life.
 * @param target where the receiver is, and what its deliveries are signed with
 */
export const stepsFor = (target: { url: string; secret: string }): readonly Step[] => [
  {
    title: 'A recorded call: its recording is announced before call:completed',
    run: (control) => control.placeCall({ durationSeconds: 20 }),
    expected: ['200 handled', '200 handled', '200 handled'],
  },
  {
    title: 'The CRM is down while a handler runs: the service tries again',
    run: (control) =>
      control.placeCall({ durationSeconds: 20, recorded: false, calledName: 'Ola Berg' }),
    expected: ['200 handled', '500 handler-failed', '200 handled'],
  },
  {
    title: 'The same event twice, and a captured request that is sent again',
    chaos: { duplicate: 1, replay: 1 },
    run: start,
    expected: ['200 handled', '409 replayed', '200 duplicate'],
  },
  {
    title: 'An answer is lost on its way: the event is not handled twice',
    chaos: { dropAnswer: 1 },
    run: start,
    expected: ['200 handled, lost', '200 duplicate'],
  },
  {
    title: 'Forged: signed with a secret that nobody gave out',
    chaos: { wrongSecret: 1 },
    run: start,
    expected: ['401 signature-mismatch', '200 handled'],
  },
  {
    title: 'Signed by a clock that is more than five minutes off',
    chaos: { clockSkew: 1 },
    run: start,
    expected: ['401 timestamp-out-of-tolerance', '200 handled'],
  },
  {
    title: 'Two actions with payloads of their own: one for a ticket, one that nobody knows yet',
    run: async (control) => {
      const ticket = { ticket: 'T-{{callId}}', note: 'call {{calledName}} back' };
      const unknown = { eventName: 'call:transferred', callId: '{{callId}}' };
      const { _id } = await control.createRule({
        name: 'Payloads of their own',
        trigger: 'call:started',
        actions: [ticket, unknown].map((payload) => ({ ...target, payload })),
      });
      await start(control);
      await control.landed();
      await control.pauseRule(_id);
    },
    expected: ['200 handled', '200 handled', '200 ignored'],
  },
];
