import type { ChaosSettings, Rule } from '@call-webhooks/simulator';
import type { Control } from './control.ts';

/** One step of the tour. */
export interface Step {
  readonly title: string;
  /** The faults injected into the first request of this step only. */
  readonly chaos?: Partial<ChaosSettings>;
  readonly run: (control: Control) => Promise<unknown>;
  /** The expected responses, in any order. */
  readonly expected: readonly string[];
  /** What happens after so many responses, before the next retry. */
  readonly then?: { readonly after: number; readonly run: () => Promise<void> };
}

/** The receiver, as whoever deploys it and is on call for it sees it. */
export interface Operations {
  /** Deploys the receiver with these secrets of the call actions. */
  readonly deploy: (secrets: readonly string[]) => Promise<void>;
  /** Prints what needs attention. */
  readonly showStatus: () => Promise<void>;
}

const start = (control: Control) => control.startCall({});

/** The receiver's URL, and the secrets that its webhooks are signed with. */
export interface Target {
  readonly url: string;
  readonly secrets: Readonly<Record<'started' | 'completed' | 'recording', string>>;
}

/** What the steps work with. */
export interface Surroundings extends Operations {
  readonly target: Target;
  /** The rule that sends `call:completed`. */
  readonly completed: Pick<Rule, '_id' | 'actions'>;
}

/** Everything that a receiver encounters. */
export const stepsFor = ({
  target: { url, secrets },
  completed,
  deploy,
  showStatus,
}: Surroundings): readonly Step[] => [
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
  rotation(completed, secrets.started, { deploy, showStatus }),
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
      await control.removeRule(_id);
    },
    expected: ['200 handled', '200 handled', '200 ignored'],
  },
  {
    title: 'The next call: everything arrives again',
    async run(control) {
      await control.advance('15m');
      await control.placeCall({ durationSeconds: 20 });
    },
    expected: ['200 handled', '200 handled', '200 handled'],
  },
];

/** A rotation that nobody deploys, until the status says so: four attempts before the rule is paused. */
function rotation(
  { _id: ruleId, actions: [action] }: Surroundings['completed'],
  startedSecret: string,
  { deploy, showStatus }: Operations,
): Step {
  let rotated: string;
  return {
    title: 'A secret is rotated, and nobody tells the receiver: a warning before the pause',
    async run(control) {
      if (!action) throw new Error('The rule has no action.');
      await control.advance('15m');
      await control.placeCall({ durationSeconds: 20 });
      await control.advance('2m');
      rotated = (await control.rotateSecret(ruleId, action._id)).signingSecret;
      await control.placeCall({ durationSeconds: 20, recorded: false });
    },
    expected: [
      ...['200 handled', '200 handled', '200 handled'],
      ...['200 handled', '401 signature-mismatch', '401 signature-mismatch', '200 handled'],
    ],
    then: {
      after: 6,
      async run() {
        await showStatus();
        await deploy([startedSecret, rotated]);
      },
    },
  };
}
