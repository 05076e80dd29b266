import { environmentError } from '../errors.ts';
import { found, type Finding } from './findings.ts';
import type { Need, Probe } from './probe.ts';
import { BASELINE } from './probes/basics.ts';
import { TestedReceiver, type TestedReceiverOptions } from './tested-receiver.ts';

/** A probe and what it came to. */
export interface Grade {
  readonly probe: Probe;
  readonly result: Finding['result'] | 'skipped';
  /** What the receiver did, or why the probe did not run. */
  readonly saw: string;
  readonly ms: number;
}

const NEEDED: Readonly<Record<Need, string>> = {
  secret: 'needs the signing secret',
  'second-secret': 'needs a file with two secrets',
  handlers: 'needs --run-handlers',
  effects: 'needs --effects: answers do not show it',
};

/**
 * Runs probes one after another: first those that others build on, last those that look at all answers.
 * @param onGrade called for each probe when it has ended
 * @param outOfTime ends the grading: what has not run is skipped
 * @throws CliError 3 when nothing listens there; the signal's reason
 */
export async function grade(
  probes: readonly Probe[],
  options: TestedReceiverOptions,
  onGrade: (grade: Grade) => Promise<void>,
  outOfTime: AbortSignal,
): Promise<readonly Grade[]> {
  const signal = AbortSignal.any([options.signal, outOfTime]);
  const receiver = new TestedReceiver({ ...options, signal });
  await requireListener(new TestedReceiver(options));
  const grades: Grade[] = [];
  let acceptsAuthentic = true;

  const runOne = async (probe: Probe): Promise<void> => {
    const started = performance.now();
    const { result, saw } = await judge(probe, receiver, acceptsAuthentic, outOfTime);
    options.signal.throwIfAborted();
    if (probe.id === BASELINE && result === 'fail') acceptsAuthentic = false;
    const graded = { probe, result, saw, ms: Math.round(performance.now() - started) };
    grades.push(graded);
    await onGrade(graded);
  };

  const ordered = probes.toSorted((one, other) => orderOf(one) - orderOf(other));
  const inBackground = ordered.filter(({ background }) => background);
  let background: Promise<unknown> | undefined;
  for (const probe of ordered.filter((one) => !one.background)) {
    if (probe.id !== BASELINE)
      background ??= settled(Promise.all(inBackground.map((one) => runOne(one))));
    if (probe.last) await background;
    await runOne(probe);
  }
  await (background ?? Promise.all(inBackground.map((one) => runOne(one))));
  return grades.toSorted((one, other) => probes.indexOf(one.probe) - probes.indexOf(other.probe));
}

/** Its rejection is seen where it is awaited. */
function settled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

const orderOf = ({ id, last }: Probe): number => (id === BASELINE ? 0 : last ? 2 : 1);

async function judge(
  probe: Probe,
  receiver: TestedReceiver,
  acceptsAuthentic: boolean,
  outOfTime: AbortSignal,
): Promise<{ readonly result: Grade['result']; readonly saw: string }> {
  const missing = probe.needs.find((need) => !isGiven(need, receiver.options));
  if (missing !== undefined) return { result: 'skipped', saw: NEEDED[missing] };
  if (!acceptsAuthentic && probe.needs.includes('secret') && probe.id !== BASELINE)
    return probe.weight === 0
      ? found.note('not tried: authentic deliveries are refused')
      : found.fail('authentic deliveries are refused, so nothing is shown');
  try {
    return await probe.run(receiver);
  } catch (error) {
    if (!outOfTime.aborted) throw error;
    return { result: 'skipped', saw: 'time is up (--max-time)' };
  }
}

function isGiven(need: Need, options: TestedReceiverOptions): boolean {
  if (need === 'secret') return options.secret !== undefined;
  if (need === 'second-secret') return options.secondSecret !== undefined;
  return need === 'handlers' ? options.runHandlers : options.effectsUrl !== undefined;
}

async function requireListener(receiver: TestedReceiver): Promise<void> {
  const { errorCode } = await receiver.exchange([new Uint8Array(), 'cut'], { elsewhere: true });
  if (errorCode === undefined) return;
  const fix = errorCode.startsWith('E')
    ? 'Start the receiver first, and check the address.'
    : 'Check the certificate. NODE_EXTRA_CA_CERTS names a file with further authorities.';
  throw environmentError(`Nothing listens at ${receiver.url.href} (${errorCode}).`, fix);
}
