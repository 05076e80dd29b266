import { setTimeout as pause } from 'node:timers/promises';
import { CliError, environmentError } from '../errors.ts';
import { requireReached } from '../http/effects.ts';
import { OWN_CHECKS } from './own-checks.ts';
import {
  type Check,
  fail,
  type Finding,
  GradedReceiver,
  type GradingOptions,
  groupOf,
  missingNeed,
  readEffects,
} from './receiver.ts';
import { BASELINE, vectorChecks } from './vectors.ts';

/** A check and what it came to. */
export interface Grade extends Finding {
  readonly check: Check;
  readonly ms: number;
}

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
  options: GradingOptions,
  isWanted: (check: Check) => boolean,
  onGrade: (grade: Grade) => void,
): Promise<readonly Grade[]> {
  const receiver = new GradedReceiver(options);
  const { url, effectsUrl, signal } = options;
  const answer = requireReached(url, await askUnsigned(receiver), true);
  if (answer.kind === 'timeout')
    throw environmentError(
      `${url} never responded.`,
      'Check the address and the log of the receiver, or raise --timeout.',
    );
  if (effectsUrl !== undefined) await readEffects(effectsUrl, signal);
  const grades: Grade[] = [];
  let showsNothing = false;
  for (const check of checksOf(receiver)) {
    if (check.id !== BASELINE && !isWanted(check)) continue;
    const reason =
      check.impossible ??
      missingNeed(check, options) ??
      (showsNothing && check.needs.length > 0 ? `it shows nothing: see ${BASELINE}` : undefined);
    const started = performance.now();
    const finding: Finding =
      reason === undefined ? await check.run(receiver) : { result: 'skipped', saw: reason };
    signal.throwIfAborted();
    const one = { check, ...finding, ms: Math.round(performance.now() - started) };
    grades.push(one);
    onGrade(one);
    if (finding.result !== 'fail') continue;
    showsNothing ||= check.id === BASELINE;
    // What a receiver that has crashed does not answer says nothing about the checks that follow.
    await requireStillThere(receiver, check);
  }
  return effectsUrl === undefined ? grades : withEffects(grades, receiver, effectsUrl);
}

/** A request that every receiver answers: it refuses it. */
const askUnsigned = (receiver: GradedReceiver) =>
  receiver.send({ headers: { 'Content-Type': 'application/json' }, body: Buffer.from('{}') });

/** A supervisor may start it again: it gets as long as a retry. */
async function requireStillThere(receiver: GradedReceiver, { id }: Check): Promise<void> {
  const LOOK_EVERY_MS = 200;
  const { url, retryForMs, signal } = receiver.options;
  const end = performance.now() + retryForMs;
  for (;;) {
    try {
      requireReached(url, await askUnsigned(receiver));
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (performance.now() > end)
        throw environmentError(
          `${error.message} The receiver was gone after the check ${id}.`,
          'Look at its log: no request may end a receiver. Under a supervisor that starts it again, the other checks run too.',
        );
    }
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
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
    return { ...one, ...fail(`${effects.get(key) ?? 0} effects instead of ${count}`) };
  });
}
