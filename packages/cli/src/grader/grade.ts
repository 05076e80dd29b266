import { type OutcomeCode, OUTCOMES } from '@call-webhooks/core';
import type { App } from '../app.ts';
import { environmentError } from '../errors.ts';
import { notOfReceiver, requireReached } from '../http/effects.ts';
import { counted } from '../terminal/format.ts';
import { OTHER_SECRETS, OWN_CHECKS } from './own-checks.ts';
import {
  type Check,
  DEFAULTS,
  type Finding,
  GradedReceiver,
  type GradingOptions,
  groupOf,
  isAcknowledged,
  missingNeed,
  readEffects,
} from './receiver.ts';
import { BASELINE, vectorChecks } from './vectors.ts';

/** A check and what it came to. */
export interface Grade extends Finding {
  readonly check: Check;
  readonly fix: string;
  readonly ms: number;
}

const BASIC: readonly string[] = [
  ...[BASELINE, 'signature/other-secret', 'signature/other-body', 'headers/none'],
  ...['clock/6-minutes-ago', 'clock/6-minutes-ahead', 'replays/at-once'],
];

/** Whether a check belongs to those without `--deep`. */
export const isBasic = ({ id }: Check): boolean => BASIC.includes(id);

/** Which checks to run if nobody chooses: the basic ones, and that of the other secrets if there are any. */
export const isWantedByDefault =
  ({ options: { otherSecrets } }: GradedReceiver) =>
  (check: Check): boolean =>
    isBasic(check) || (check.id === OTHER_SECRETS && otherSecrets !== undefined);

/** All checks of a receiver: those of one group together, and the one that others build on first. */
export function checksOf(receiver: GradedReceiver): readonly Check[] {
  const all = [...vectorChecks(receiver), ...OWN_CHECKS];
  const baseline = all.filter(({ id }) => id === BASELINE);
  const groups = [...new Set([...baseline, ...all].map(groupOf))];
  return [
    ...baseline,
    ...groups.flatMap((group) =>
      all.filter((check) => groupOf(check) === group && check.id !== BASELINE),
    ),
  ];
}

/**
 * Runs checks one after another.
 * @param isWanted which checks to run; the one that others build on always runs
 * @param onGrade called for each check when it has ended
 * @throws CliError 3 when nothing listens or answers there, or no longer; the signal's reason
 */
export async function grade(
  receiver: GradedReceiver,
  isWanted: (check: Check) => boolean,
  onGrade: (grade: Grade) => void = () => undefined,
): Promise<readonly Grade[]> {
  const { effectsUrl, signal } = receiver.options;
  await requireAnswer(receiver);
  if (effectsUrl !== undefined) await readEffects(effectsUrl, signal);
  const grades: Grade[] = [];
  let showsNothing = false;
  for (const check of checksOf(receiver)) {
    if (check.id !== BASELINE && !isWanted(check)) continue;
    const reason =
      check.impossible ??
      missingNeed(check, receiver.options) ??
      (showsNothing && check.needs.length > 0
        ? `the result would mean nothing: see ${BASELINE}`
        : undefined);
    const started = performance.now();
    const found: Finding =
      reason === undefined ? await check.run(receiver) : { result: 'skipped', saw: reason };
    signal.throwIfAborted();
    const ms = Math.round(performance.now() - started);
    const one = { fix: check.fix, ...found, check, ms };
    grades.push(one);
    onGrade(one);
    if (found.result !== 'fail') continue;
    showsNothing ||= check.id === BASELINE;
    // What a receiver that has crashed does not answer says nothing about the checks that follow.
    await requireAnswer(receiver, check);
  }
  return effectsUrl === undefined ? grades : withEffects(grades, receiver, effectsUrl);
}

const UNSIGNED = { headers: { 'Content-Type': 'application/json' }, body: Buffer.from('{}') };

/**
 * Sends a request that every receiver answers: it refuses it.
 * @param after the check before it
 * @throws CliError 3
 */
async function requireAnswer(receiver: GradedReceiver, after?: Check): Promise<void> {
  const { url } = receiver.options;
  const result = await receiver.send(UNSIGNED);
  const note =
    after &&
    ` The receiver stopped responding after the check ${after.id}. No request should be able to crash a receiver.`;
  requireReached(url, result, after === undefined, note);
  const foreign = notOfReceiver(url, result);
  if (foreign) throw environmentError(`${url} is not a receiver. ${foreign.when}`, foreign.fix);
  if (result.kind === 'timeout')
    throw environmentError(
      after ? `${url} stopped responding after the check ${after.id}.` : `${url} never responded.`,
      "Check the address and the receiver's log, or raise --timeout.",
    );
}

/** What is wrong with a receiver that answers everything with the same server error. */
export function serverErrorOf(grades: readonly Grade[]): string | undefined {
  const [status = '', ...others] = new Set(
    grades.filter(({ result }) => result !== 'skipped').map(({ saw }) => saw),
  );
  const found = /^5\d\d(?: (?<outcome>[a-z-]+))?$/.exec(status);
  if (others.length > 0 || !found) return undefined;
  const { outcome } = found.groups ?? {};
  const fix =
    outcome === undefined ? 'The error is in its log.' : OUTCOMES[outcome as OutcomeCode].fix;
  return `The receiver returns ${status} for every request, so nothing could be tested. ${fix}`;
}

/** The options of a receiver for the basic checks, none of which runs a handler. */
export const basicOptions = (
  { signal }: App,
  given: Pick<GradingOptions, 'url' | 'headerPrefix' | 'insecure'> & { timeout: number },
): TargetOptions => {
  const { url, headerPrefix, insecure, timeout: timeoutMs } = given;
  return { ...DEFAULTS, url, headerPrefix, insecure, timeoutMs, signal };
};

type TargetOptions = Omit<GradingOptions, 'secret' | 'otherSecrets' | 'secretNumber'>;

/**
 * The receiver that is graded. Of several secrets, it is graded with the first with which a delivery is
 * acknowledged, so that one that is not deployed hides nothing.
 */
export async function receiverWith(
  options: TargetOptions,
  secrets: readonly string[],
): Promise<GradedReceiver> {
  const at = secrets.length > 1 ? await acknowledgedAt(options, secrets) : 0;
  const otherSecrets = secrets.length > 1 ? secrets.toSpliced(at, 1) : undefined;
  return new GradedReceiver({
    ...options,
    secret: secrets[at],
    otherSecrets,
    secretNumber: at + 1,
  });
}

/** Where this secret stands in the list; 0 if there is none. */
async function acknowledgedAt(options: TargetOptions, secrets: readonly string[]): Promise<number> {
  const probe = new GradedReceiver({ ...options, secret: undefined });
  // Its response tells the receiver's clock, by which the others are signed.
  await probe.send(UNSIGNED);
  for (const [at, secret] of secrets.entries()) {
    const result = await probe.send(probe.sign(probe.event().body, secret));
    if (isAcknowledged(result)) return at;
    // What does not respond would be waited for once more for each secret.
    if (result.kind !== 'status') return 0;
  }
  return 0;
}

/** The grades, where checks that passed also had the right effects. */
async function withEffects(
  grades: readonly Grade[],
  receiver: GradedReceiver,
  effectsUrl: string,
): Promise<readonly Grade[]> {
  const expected = grades.flatMap(({ check, result }) =>
    result === 'pass' ? [...(check.effects ?? [])] : [],
  );
  if (expected.length === 0) return grades;
  await receiver.effectsOf(expected.filter(([, count]) => count > 0).map(([key]) => key));
  const effects = await readEffects(effectsUrl, receiver.options.signal);
  return grades.map((one) => {
    const wrong = [...(one.result === 'pass' ? (one.check.effects ?? []) : [])].find(
      ([key, count]) => (effects.get(key) ?? 0) !== count,
    );
    if (!wrong) return one;
    const [key, count] = wrong;
    return {
      ...one,
      result: 'fail',
      saw: `${counted(effects.get(key) ?? 0, 'effect')} instead of ${count}`,
    };
  });
}
