import { writeFile } from 'node:fs/promises';
import { sign } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import type { App } from '../../app.ts';
import { badInput, environmentError, EXIT } from '../../errors.ts';
import { grade, type Grade } from '../../grader/grade.ts';
import { GROUPS, type Probe } from '../../grader/probe.ts';
import { PROBES } from '../../grader/probes.ts';
import { BASELINE } from '../../grader/probes/basics.ts';
import { junitOf } from '../../grader/report/junit.ts';
import { gradeLines, groupLine, probeLines, scoreLines } from '../../grader/report/lines.ts';
import { sarifOf } from '../../grader/report/sarif.ts';
import { runRestartCommand } from '../../grader/restart-command.ts';
import { byGroup, scoreOf } from '../../grader/score.ts';
import type { TestedReceiverOptions } from '../../grader/tested-receiver.ts';
import { didYouMean } from '../../input/did-you-mean.ts';
import { fieldNames } from '../../input/field-names.ts';
import { givenSecrets, type SecretOptions } from '../../input/secrets.ts';
import { targetUrl } from '../../input/target-url.ts';
import { progressBar } from '../../terminal/progress.ts';

/** The flags of `check --deep`. */
export interface DeepOptions extends SecretOptions {
  readonly to?: string;
  readonly headerPrefix?: string;
  readonly timeout: number;
  readonly allowExternal?: boolean;
  readonly runHandlers?: boolean;
  readonly fieldName?: readonly string[];
  readonly effects?: string;
  readonly effectsWithin: number;
  readonly restart?: string;
  readonly restartWithin: number;
  readonly only?: readonly string[];
  readonly minScore: number;
  readonly maxTime: number;
  readonly junit?: string;
  readonly sarif?: string;
}

const ACKNOWLEDGE_WITHIN_MS = 30_000;
const RETRY_FOR_MS = 10_000;
const FIELDS = Object.keys(DEFAULT_FIELD_NAMES) as (keyof typeof DEFAULT_FIELD_NAMES)[];

/** `check --list`. */
export async function listProbes({ output }: App): Promise<number> {
  let last: Probe['group'] | undefined;
  for (const probe of PROBES) {
    const { id, group, title, weight, needs, spec, fix } = probe;
    const isFirst = group !== last;
    last = group;
    await output.print({ probe: id, group, title, weight, needs, spec, fix }, (colors) => [
      ...(isFirst ? [groupLine(colors, group)] : []),
      ...probeLines(probe, output.columns),
    ]);
  }
  return EXIT.done;
}

/** `check --deep`: grades a receiver. */
export async function checkDeeply(app: App, options: DeepOptions): Promise<number> {
  const { io, output } = app;
  if (options.to === undefined) throw badInput('--to is missing.', 'Pass the receiver: --to URL');
  const probes = chosen(options.only);
  const url = targetUrl(options.to, options.allowExternal);
  const effectsUrl = options.effects && targetUrl(options.effects, options.allowExternal);
  const [secret, secondSecret] = await givenSecrets(io, options);
  // Throws for a secret that is none.
  for (const one of [secret, secondSecret])
    if (one !== undefined) await sign({ secret: one, body: '' });

  const bar = progressBar(io, output.messageColors, String);
  const outOfTime = AbortSignal.timeout(options.maxTime);
  const judged: Grade[] = [];
  let hasError = true;
  try {
    await grade(
      probes,
      {
        url,
        secret,
        secondSecret,
        headerPrefix: options.headerPrefix,
        runHandlers: options.runHandlers === true || effectsUrl !== undefined,
        fieldNames: fieldNames(FIELDS, options.fieldName),
        effectsUrl,
        effectsWithinMs: options.effectsWithin,
        restart: restartOf(options),
        restartWithinMs: options.restartWithin,
        timeoutMs: options.timeout,
        retryForMs: RETRY_FOR_MS,
        acknowledgeWithinMs: ACKNOWLEDGE_WITHIN_MS,
        signal: io.signal,
      },
      async (one) => {
        judged.push(one);
        bar.update(judged.length, probes.length);
        if (output.json) await output.print(recordOf(one));
      },
      outOfTime,
    );
    hasError = false;
  } finally {
    bar.clear();
    // After an error, what was judged is still worth a report.
    if (hasError && judged.length > 0) await report(app, options, gradesOf(probes, judged), url);
  }
  const graded = gradesOf(probes, judged);
  const points = await report(app, options, graded, url);
  if (secret === undefined)
    output.message('Set CALL_WEBHOOK_SECRET to the secret of the receiver for most probes.');
  if (outOfTime.aborted) output.warn('Time is up: some probes did not run. Raise --max-time.');
  const isBodyRefused = isSkipped(graded, BASELINE) && secret !== undefined && !outOfTime.aborted;
  if (isBodyRefused) output.warn(options.runHandlers || effectsUrl ? GUESSED_NAMES : UNKNOWN_EVENT);
  return points >= options.minScore && !outOfTime.aborted && !isBodyRefused
    ? EXIT.done
    : EXIT.receiverFailed;
}

const UNKNOWN_EVENT =
  'The receiver refuses an event that it does not know, so little was tested. Pass --run-handlers: it sends marked call events.';
const GUESSED_NAMES =
  'The receiver refuses call events with guessed field names, so little was tested. Pass --field-name placedBy=FIELD: call-webhooks infer finds the names.';

function restartOf({ restart, restartWithin }: DeepOptions): TestedReceiverOptions['restart'] {
  return restart === undefined
    ? undefined
    : (signal) => runRestartCommand(restart, restartWithin, signal);
}

const isSkipped = (graded: readonly Grade[], id: string): boolean =>
  graded.some(({ probe, result }) => probe.id === id && result === 'skipped');

/** In the order of the probes. What has no grade did not run. */
const gradesOf = (probes: readonly Probe[], judged: readonly Grade[]): readonly Grade[] =>
  probes.map(
    (probe) =>
      judged.find((one) => one.probe === probe) ?? {
        probe,
        result: 'skipped',
        saw: 'did not run',
        ms: 0,
      },
  );

/** Prints the grades, and writes the files. @returns the score */
async function report(
  { output }: App,
  { junit, sarif }: DeepOptions,
  graded: readonly Grade[],
  url: string,
): Promise<number> {
  if (!output.json)
    for (const [id, , own] of byGroup(graded))
      await output.print(own, (colors) => [
        groupLine(colors, id),
        ...own.flatMap((one) => gradeLines(colors, one, output.columns)),
      ]);
  const score = scoreOf(graded);
  const groups = byGroup(graded).map(([id, , own]) => ({ group: id, ...scoreOf(own) }));
  await output.print({ type: 'score', ...score, groups }, (colors) => scoreLines(colors, graded));
  if (junit !== undefined) await write(junit, junitOf(graded, url));
  if (sarif !== undefined)
    await write(sarif, `${JSON.stringify(sarifOf(graded, url), undefined, 2)}\n`);
  return score.points ?? 0;
}

const recordOf = ({ probe, result, saw, ms }: Grade) => {
  const { id, group, title, weight, spec, fix } = probe;
  return { type: 'probe', probe: id, group, title, weight, result, saw, ms, spec, fix };
};

/** The probes of `--only`: ids, or groups. @throws CliError 2 for a name that is neither */
function chosen(only: readonly string[] | undefined): readonly Probe[] {
  if (only === undefined) return PROBES;
  const names = only.flatMap((list) => list.split(',')).filter((name) => name !== '');
  const known = [...Object.keys(GROUPS), ...PROBES.map(({ id }) => id)];
  for (const name of names)
    if (!known.includes(name))
      throw badInput(
        `${name} is no probe and no group.`,
        didYouMean(name, known, 'See: call-webhooks check --list'),
      );
  const wanted = PROBES.filter(({ id, group }) => names.includes(id) || names.includes(group));
  const needsBaseline = wanted.some(({ needs }) => needs.includes('secret'));
  return PROBES.filter(
    (probe) => wanted.includes(probe) || (needsBaseline && probe.id === BASELINE),
  );
}

async function write(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw environmentError(
      `Can't write ${path} (${code}).`,
      'Check the folder and its permissions.',
    );
  }
}
