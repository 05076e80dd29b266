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
  isAcknowledged,
  missingNeed,
  NEEDS,
  pass,
  readEffects,
  skipped,
} from './receiver.ts';
import { BASELINE, VectorCheck, vectorChecks } from './vectors.ts';

/** A check and what it came to. */
export interface Grade extends Finding {
  readonly check: Check;
  readonly ms: number;
}

/** All checks of a receiver, those of one group together. */
export function checksOf(receiver: GradedReceiver): readonly Check[] {
  const all: Check[] = [...vectorChecks(receiver), ...OWN_CHECKS];
  const groups = [...new Set(all.map(groupOf))];
  return groups.flatMap((group) => all.filter((check) => groupOf(check) === group));
}

/**
 * Runs checks one after another; those that take long run beside the others.
 * @param isWanted which checks to run; the one that others build on always runs
 * @param onGrade called for each check when it has ended
 * @param outOfTime ends the grading: what has not run is skipped
 * @throws CliError 3 when nothing listens or answers there, or no longer; the signal's reason
 */
export async function grade(
  options: GradingOptions,
  isWanted: (check: Check) => boolean,
  onGrade: (grade: Grade) => void,
  outOfTime: AbortSignal,
): Promise<readonly Grade[]> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, outOfTime, ended.signal]);
  const receiver = new GradedReceiver({ ...options, signal });
  try {
    await requireAnswer(new GradedReceiver(options));
    if (options.effectsUrl !== undefined) await readEffects(options.effectsUrl, options.signal);
    return await new Grading(receiver, options.signal, outOfTime, onGrade).run(isWanted);
  } finally {
    // After an error, a check may still run in the background.
    ended.abort();
  }
}

class Grading {
  readonly #receiver: GradedReceiver;
  readonly #stopped: AbortSignal;
  readonly #outOfTime: AbortSignal;
  readonly #onGrade: (grade: Grade) => void;
  readonly #grades = new Map<Check, Grade>();

  constructor(
    receiver: GradedReceiver,
    stopped: AbortSignal,
    outOfTime: AbortSignal,
    onGrade: (grade: Grade) => void,
  ) {
    this.#receiver = receiver;
    this.#stopped = stopped;
    this.#outOfTime = outOfTime;
    this.#onGrade = onGrade;
  }

  async run(isWanted: (check: Check) => boolean): Promise<readonly Grade[]> {
    const { secret } = this.#receiver.options;
    const all = checksOf(this.#receiver);
    const valid = all.find(({ id }) => id === BASELINE);
    const baseline =
      !valid || secret === undefined ? pass('') : await this.#inTime(() => this.#authentic(valid));
    const wanted = all.filter((check) => check.id === BASELINE || isWanted(check));
    const findingOf = (check: Check): Finding | undefined => {
      if (check.impossible !== undefined) return skipped(check.impossible);
      const missing = missingNeed(check, this.#receiver.options);
      if (missing !== undefined) return skipped(`it needs ${NEEDS[missing]}`);
      if (check.id === BASELINE) return baseline;
      if (baseline.result !== 'pass' && check.needs.length > 0)
        return skipped(`it shows nothing: see ${BASELINE}`);
      return undefined;
    };
    const runAll = async (checks: readonly Check[]) => {
      for (const check of checks) await this.#grade(check, findingOf(check));
    };
    const background = Promise.all(
      wanted.filter((check) => check.background).map((check) => runAll([check])),
    );
    background.catch(() => undefined); // it is awaited below
    await runAll(wanted.filter((check) => !check.background));
    await background;
    const grades = wanted.flatMap((check) => this.#grades.get(check) ?? []);
    return this.#receiver.options.effectsUrl === undefined ? grades : this.#withEffects(grades);
  }

  async #grade(check: Check, known: Finding | undefined): Promise<void> {
    const started = performance.now();
    const finding = known ?? (await this.#inTime(() => check.run(this.#receiver)));
    this.#stopped.throwIfAborted();
    const ms = Math.round(performance.now() - started);
    const one = { check, ...finding, ms };
    this.#grades.set(check, one);
    this.#onGrade(one);
    // What a receiver that has crashed does not answer says nothing about the checks that follow.
    if (finding.result === 'fail') await this.#requireStillThere(check);
  }

  async #inTime(find: () => Promise<Finding>): Promise<Finding> {
    try {
      // Each request of a check throws when time is up.
      return await find();
    } catch (error) {
      if (!this.#outOfTime.aborted) throw error;
      return skipped('time is up (--max-time)');
    }
  }

  /** Whether an authentic delivery is acknowledged. Learns the receiver's clock. */
  async #authentic(valid: Check): Promise<Finding> {
    const receiver = this.#receiver;
    const first = await receiver.deliver(receiver.event());
    if (first.kind === 'status' && first.headers.date !== undefined) {
      const ahead = Math.round((Date.parse(first.headers.date) - Date.now()) / 1_000);
      // One second is the precision of the header.
      if (Math.abs(ahead) > 2) receiver.clockAhead = ahead;
    }
    const finding = await valid.run(receiver);
    if (finding.result === 'pass' || !(await this.#refusesOurBody())) return finding;
    return skipped(
      receiver.options.runHandlers
        ? `${finding.saw} for guessed field names`
        : `${finding.saw} for an event it does not know`,
    );
  }

  /**
   * Whether a body is refused for what the interface does not show: an event that the receiver does
   * not know, or guessed field names. A forged delivery then gets another status.
   */
  async #refusesOurBody(): Promise<boolean> {
    const receiver = this.#receiver;
    const { runHandlers, fieldNames } = receiver.options;
    const own = await receiver.deliver(receiver.event());
    if (own.kind !== 'status' || own.status < 400 || own.status === 404) return false;
    if (runHandlers && (own.status >= 500 || fieldNames?.placedBy !== undefined)) return false;
    const strange = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
    const forged = await receiver.send(receiver.sign(receiver.event().body, strange));
    return forged.kind === 'status' && !isAcknowledged(forged) && forged.status !== own.status;
  }

  /** The grades, where vectors that passed also had the right effects. */
  async #withEffects(grades: readonly Grade[]): Promise<readonly Grade[]> {
    const wanted = grades.flatMap(({ check, result }) =>
      check instanceof VectorCheck && result === 'pass' ? [...check.effects] : [],
    );
    if (wanted.length === 0 || this.#outOfTime.aborted) return grades;
    const some = wanted.filter(([, count]) => count > 0).map(([key]) => key);
    await this.#receiver.effectsOf(some);
    const { effectsUrl = '', signal } = this.#receiver.options;
    const effects = await readEffects(effectsUrl, signal);
    return grades.map((one) => {
      if (!(one.check instanceof VectorCheck) || one.result !== 'pass') return one;
      const wrong = [...one.check.effects].find(
        ([key, count]) => (effects.get(key) ?? 0) !== count,
      );
      if (!wrong) return one;
      const [key, count] = wrong;
      return { ...one, ...fail(`${times(effects.get(key) ?? 0)} instead of ${String(count)}`) };
    });
  }

  /** A supervisor may start it again: it gets as long as a retry. */
  async #requireStillThere({ id }: Check): Promise<void> {
    const LOOK_EVERY_MS = 200;
    const options = { ...this.#receiver.options, signal: this.#stopped };
    const end = performance.now() + options.retryForMs;
    for (;;) {
      try {
        requireReached(options.url, await askUnsigned(new GradedReceiver(options)));
        return;
      } catch (error) {
        if (!(error instanceof CliError)) throw error;
        if (performance.now() > end)
          throw environmentError(
            `${error.message} The receiver was gone after the check ${id}.`,
            'Look at its log: no request may end a receiver. Under a supervisor that starts it again, the other checks run too.',
          );
      }
      await pause(LOOK_EVERY_MS, undefined, { signal: this.#stopped });
    }
  }
}

const times = (count: number) => `${String(count)} ${count === 1 ? 'effect' : 'effects'}`;

/** A request that every receiver answers: it refuses it. */
const askUnsigned = (receiver: GradedReceiver) =>
  receiver.send({ headers: { 'Content-Type': 'application/json' }, body: Buffer.from('{}') });

async function requireAnswer(receiver: GradedReceiver): Promise<void> {
  const { url } = receiver.options;
  const result = requireReached(url, await askUnsigned(receiver), true);
  if (result.kind === 'timeout')
    throw environmentError(
      `${url} never responded.`,
      'Check the address and the log of the receiver, or raise --timeout.',
    );
}
