import { setTimeout as pause } from 'node:timers/promises';
import { CliError, environmentError } from '../errors.ts';
import { readEffects } from './effects.ts';
import { found, type Finding } from './findings.ts';
import type { Need, Probe } from './probe.ts';
import { BASELINE } from './probes/basics.ts';
import { RequestLimit, TestedReceiver, type TestedReceiverOptions } from './tested-receiver.ts';

/** A probe and what it came to. */
export interface Grade {
  readonly probe: Probe;
  readonly result: Finding['result'];
  /** What the receiver did, or why the probe did not run. */
  readonly saw: string;
  readonly ms: number;
}

const NEEDED: Readonly<Record<Need, string>> = {
  secret: 'needs the signing secret',
  'second-secret': 'needs a file with two secrets',
  handlers: 'needs --run-handlers',
  effects: 'needs --effects: answers do not show it',
  restart: 'needs --restart',
};

/**
 * Runs probes one after another: first those that others build on, last those that look at all answers.
 * @param onGrade called for each probe when it has ended
 * @param outOfTime ends the grading: what has not run is skipped
 * @throws CliError 3 when nothing listens or answers there, or no longer; the signal's reason
 */
export async function grade(
  probes: readonly Probe[],
  options: TestedReceiverOptions,
  onGrade: (grade: Grade) => Promise<void>,
  outOfTime: AbortSignal,
): Promise<void> {
  const ended = new AbortController();
  const signal = AbortSignal.any([options.signal, outOfTime, ended.signal]);
  const receiver = new TestedReceiver({ ...options, signal });
  try {
    await requireListener(new TestedReceiver(options));
    if (options.effectsUrl !== undefined) await readEffects(options.effectsUrl, options.signal);
    await runAll(probes, receiver, onGrade, { stopped: options.signal, outOfTime });
  } finally {
    // After an error, a probe may still run in the background.
    ended.abort();
  }
  if (receiver.requests > 0 && receiver.responses === 0 && !outOfTime.aborted)
    throw environmentError(
      `${receiver.url.href} accepts connections, but never answered.`,
      'Check the address and the log of the receiver, or raise --timeout.',
    );
}

async function runAll(
  probes: readonly Probe[],
  receiver: TestedReceiver,
  onGrade: (grade: Grade) => Promise<void>,
  { stopped, outOfTime }: Readonly<Record<'stopped' | 'outOfTime', AbortSignal>>,
): Promise<void> {
  let baseline: Grade['result'] = 'pass';
  const runOne = async (probe: Probe): Promise<void> => {
    const started = performance.now();
    const { result, saw } = await judge(probe, receiver, baseline, outOfTime);
    stopped.throwIfAborted();
    if (probe.id === BASELINE) baseline = result;
    await onGrade({ probe, result, saw, ms: Math.round(performance.now() - started) });
    // What a receiver that has crashed does not answer says nothing about the probes that follow.
    if (result === 'fail') await requireStillThere(probe, { ...receiver.options, signal: stopped });
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
  baseline: Grade['result'],
  outOfTime: AbortSignal,
): Promise<Finding> {
  const missing = probe.needs.find((need) => !isGiven(need, receiver.options));
  if (missing !== undefined) return found.skipped(NEEDED[missing]);
  if (probe.needs.includes('secret') && probe.id !== BASELINE) {
    if (baseline === 'skipped') return found.skipped(`nothing is shown: see ${BASELINE}`);
    if (baseline === 'fail')
      return probe.weight === 0
        ? found.note('not tried: authentic deliveries are refused')
        : found.fail('authentic deliveries are refused, so nothing is shown');
  }
  try {
    return await probe.run(receiver);
  } catch (error) {
    if (error instanceof RequestLimit) return found.skipped(error.message);
    if (!outOfTime.aborted) throw error;
    return found.skipped('time is up (--max-time)');
  }
}

function isGiven(need: Need, options: TestedReceiverOptions): boolean {
  if (need === 'secret') return options.secret !== undefined;
  if (need === 'second-secret') return options.secondSecret !== undefined;
  if (need === 'restart') return options.restart !== undefined;
  return need === 'handlers' ? options.runHandlers : options.effectsUrl !== undefined;
}

const UNREACHED = /^(ECONN(?!RESET)|EHOST|ENET|EADDR|EAI_|ENOTFOUND|ETIMEDOUT|EACCES|EPERM|EPIPE)/;

const LOOK_EVERY_MS = 200;

/** A supervisor may start it again: it gets as long as a retry. */
async function requireStillThere({ id }: Probe, options: TestedReceiverOptions): Promise<void> {
  const end = performance.now() + options.retryForMs;
  for (;;) {
    try {
      await requireListener(new TestedReceiver(options));
      return;
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      if (performance.now() > end)
        throw environmentError(
          `${error.message} The receiver was gone after the probe ${id}.`,
          'Look at its log: no request may end a receiver. Under a supervisor that starts it again, the other probes run too.',
        );
    }
    await pause(LOOK_EVERY_MS, undefined, { signal: options.signal });
  }
}

async function requireListener(receiver: TestedReceiver): Promise<void> {
  const answer = await receiver.exchange([new Uint8Array(), 'cut'], { elsewhere: true });
  const { connected, errorCode } = answer;
  if (connected) return;
  const { href, protocol } = receiver.url;
  if (errorCode === undefined)
    throw environmentError(
      `Can't connect to ${href} in time.`,
      'Check the address and the firewall, or raise --timeout.',
    );
  if (protocol === 'http:' || UNREACHED.test(errorCode))
    throw environmentError(
      `Nothing listens at ${href} (${errorCode}).`,
      'Start the receiver first, and check the address.',
    );
  throw environmentError(
    `There is no trusted TLS connection to ${href} (${errorCode}).`,
    'Check the certificate, its host name, and that the port speaks TLS. NODE_EXTRA_CA_CERTS names a file with further authorities.',
  );
}
