import type { Finding } from './findings.ts';
import type { SpecSentence } from './spec.ts';
import type { TestedReceiver } from './tested-receiver.ts';

/** The groups of probes, in the order of the report. */
export const GROUPS = {
  basics: 'Authentic deliveries',
  signature: 'Signatures',
  time: 'Timestamps',
  replay: 'Replays and retries',
  events: 'Events and bodies',
  duplicates: 'Duplicates',
  failures: 'Failures and deadlines',
  rotation: 'Rotation',
  restart: 'Restarts',
  http: 'HTTP and connections',
} as const;

export type GroupId = keyof typeof GROUPS;

/** What a probe needs besides a running receiver. */
export type Need =
  | 'secret'
  /** A second secret that the receiver accepts as well. */
  | 'second-secret'
  /** Permission to send events that handlers handle. */
  | 'handlers'
  /** The receiver reports its effects. */
  | 'effects'
  /** A command that restarts the receiver. */
  | 'restart';

/** One probe of `check --deep`. */
export interface Probe {
  /** Stable: scripts select by it. */
  readonly id: string;
  readonly group: GroupId;
  readonly title: string;
  readonly spec: SpecSentence;
  readonly fix: string;
  /** How much it counts. 0: it can only find notes. */
  readonly weight: number;
  readonly needs: readonly Need[];
  /** It passes by a refusal, which shows nothing while authentic deliveries are refused too. */
  readonly provesRefusal?: true;
  /** It takes long, so it runs beside all others. */
  readonly background?: true;
  /** It looks at what all other probes saw, so it runs last. */
  readonly last?: true;
  run(receiver: TestedReceiver): Promise<Finding>;
}
