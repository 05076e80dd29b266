import type { Sentence } from '@call-webhooks/contract';
import { describeResult } from '../http/effect.ts';
import type { PostResult } from '../http/post.ts';
import { isAcknowledged, type GradedReceiver, type GradingOptions } from './receiver.ts';

/** What a check found. */
export interface Finding {
  readonly result: 'pass' | 'fail' | 'skipped';
  /** What the receiver did, or why that is not judged. Never a value of a body. */
  readonly saw: string;
}

/** What a check needs besides a running receiver, and how the user gives it. */
export const NEEDS = {
  secret: 'the signing secret',
  'second-secret': 'a file with two secrets',
  handlers: '--run-handlers',
  effects: '--effects',
} as const;

export type Need = keyof typeof NEEDS;

/** One check of `check --deep`. */
export interface Check {
  /** `clock/letters-after`: stable, since scripts select by it. */
  readonly id: string;
  readonly title: string;
  /** The sentences of the interface that it rests on. */
  readonly why: readonly Sentence[];
  readonly fix: string;
  readonly needs: readonly Need[];
  /** Why it can't run on a receiver whose clock and secrets are its own. */
  readonly impossible?: string | undefined;
  /** It takes long, so it runs beside all others. */
  readonly background?: true;
  run(receiver: GradedReceiver): Promise<Finding>;
}

/** `clock` of `clock/letters-after`. */
export const groupOf = ({ id }: Pick<Check, 'id'>): string => id.slice(0, id.indexOf('/'));

/** The first need that is not met. */
export const missingNeed = (
  { needs }: Check,
  { secret, secondSecret, runHandlers, effectsUrl }: GradingOptions,
): Need | undefined => {
  const given: Readonly<Record<Need, boolean>> = {
    secret: secret !== undefined,
    'second-secret': secondSecret !== undefined,
    handlers: runHandlers,
    effects: effectsUrl !== undefined,
  };
  return needs.find((need) => !given[need]);
};

export const pass = (saw: string): Finding => ({ result: 'pass', saw });
export const fail = (saw: string): Finding => ({ result: 'fail', saw });
export const skipped = (saw: string): Finding => ({ result: 'skipped', saw });

/** Passes if the delivery was acknowledged. */
export const accepted = (result: PostResult, of = ''): Finding =>
  isAcknowledged(result) ? pass(describeResult(result)) : fail(`${describeResult(result)}${of}`);

/** Passes if there is a response, and it doesn't pause the rule. */
export const answered = (result: PostResult, to = ''): Finding =>
  result.kind === 'status' && result.status !== 404
    ? pass(describeResult(result))
    : fail(`${describeResult(result)}${to}`);
