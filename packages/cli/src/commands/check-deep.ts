import { writeFile } from 'node:fs/promises';
import { sign } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import type { App } from '../app.ts';
import { badInput, environmentError, EXIT } from '../errors.ts';
import { checksOf, grade, type Grade } from '../grader/grade.ts';
import {
  type Check,
  GradedReceiver,
  type GradingOptions,
  groupOf,
  NEEDS,
} from '../grader/receiver.ts';
import { BASELINE } from '../grader/vectors.ts';
import { fieldNames } from '../input/fields.ts';
import { didYouMean } from '../input/options.ts';
import { givenSecrets } from '../input/secrets.ts';
import { targetUrl } from '../input/target.ts';
import { progressBar } from '../terminal/prompts.ts';
import { paragraph } from '../terminal/table.ts';
import { type Colors, join, pad, t, type Text } from '../terminal/text.ts';
import { type CheckOptions, receiverUrl } from './check.ts';

/** The flags of `check --deep`. */
export interface DeepOptions {
  readonly deep?: boolean;
  readonly list?: boolean;
  readonly only?: readonly string[];
  readonly runHandlers?: boolean;
  readonly fieldName?: readonly string[];
  readonly effects?: string;
  readonly effectsWithin: number;
  readonly maxTime: number;
  readonly junit?: string;
}

const ACKNOWLEDGE_WITHIN_MS = 30_000;
const RETRY_FOR_MS = 10_000;
const FIELDS = Object.keys(DEFAULT_FIELD_NAMES) as (keyof typeof DEFAULT_FIELD_NAMES)[];

/** All checks, before a receiver is known. */
const known = (): readonly Check[] =>
  checksOf(
    new GradedReceiver({
      ...{ url: '', secret: undefined, runHandlers: true, timeoutMs: 0, retryForMs: 0 },
      ...{ effectsWithinMs: 0, acknowledgeWithinMs: 0, signal: AbortSignal.abort() },
    }),
  );

/** `check --list`. */
export async function listChecks({ output }: App): Promise<number> {
  const WIDTH = 36;
  for (const { id, title, why, fix, needs, impossible } of known()) {
    const need = needs.filter((one) => one !== 'secret').at(-1);
    const note = impossible ?? (need && `it needs ${NEEDS[need]}`);
    await output.print({ check: id, title, needs, why, fix, impossible }, (colors) => {
      const [first = t``, ...rest] = paragraph(
        note === undefined ? title : `${title} (${note})`,
        output.columns,
        WIDTH + 1,
      );
      return [t`${pad(colors.bold(id), WIDTH)} ${first.plain.trimStart()}`, ...rest];
    });
  }
  return EXIT.done;
}

/** `check --deep`: runs all checks. */
export async function checkDeeply(app: App, options: CheckOptions & DeepOptions): Promise<number> {
  const { io, output } = app;
  const isWanted = selection(options.only);
  const grading = await gradingOf(app, options);
  const { url, secret, runHandlers } = grading;
  const bar = progressBar(io, output.messageColors, String);
  const total = known().filter(isWanted).length;
  const outOfTime = AbortSignal.timeout(options.maxTime);
  const judged: Grade[] = [];
  let grades: readonly Grade[] = judged;
  try {
    const onGrade = (one: Grade) => bar.update(judged.push(one), total);
    grades = await grade(grading, isWanted, onGrade, outOfTime);
  } finally {
    bar.clear();
    // After an error, what was judged is still worth a report.
    if (grades.length > 0) await report(app, options, grades, url);
  }
  if (secret === undefined)
    output.message('Set CALL_WEBHOOK_SECRET to the secret of the receiver for most checks.');
  if (outOfTime.aborted) output.warn('Time is up: some checks did not run. Raise --max-time.');
  const isBodyRefused =
    secret !== undefined && grades.find(({ check }) => check.id === BASELINE)?.result === 'skipped';
  if (isBodyRefused && !outOfTime.aborted) output.warn(runHandlers ? GUESSED_NAMES : UNKNOWN_EVENT);
  const hasFailed = grades.some(({ result }) => result === 'fail');
  return hasFailed || outOfTime.aborted || isBodyRefused ? EXIT.receiverFailed : EXIT.done;
}

const UNKNOWN_EVENT =
  'The receiver rejects an event that it does not know, so little was tested. Pass --run-handlers: it sends marked call events.';
const GUESSED_NAMES =
  'The receiver rejects call events with guessed field names, so little was tested. Pass --field-name placedBy=FIELD: call-webhooks infer finds the names.';

async function gradingOf(
  { io }: App,
  options: CheckOptions & DeepOptions,
): Promise<GradingOptions> {
  const url = receiverUrl(options);
  const effectsUrl = options.effects && targetUrl(options.effects, options.allowExternal);
  const [secret, secondSecret] = await givenSecrets(io, options);
  // Throws for a secret that is none.
  for (const one of [secret, secondSecret])
    if (one !== undefined) await sign({ secret: one, body: '' });
  return {
    ...{ url, secret, secondSecret, effectsUrl },
    headerPrefix: options.headerPrefix,
    insecure: options.insecure,
    runHandlers: options.runHandlers === true || effectsUrl !== undefined,
    fieldNames: fieldNames(FIELDS, options.fieldName),
    effectsWithinMs: options.effectsWithin,
    timeoutMs: options.timeout,
    retryForMs: RETRY_FOR_MS,
    acknowledgeWithinMs: ACKNOWLEDGE_WITHIN_MS,
    signal: io.signal,
  };
}

/** The checks of `--only`: ids, or groups. @throws CliError 2 for a name that is neither */
function selection(only: readonly string[] | undefined): (check: Check) => boolean {
  if (only === undefined) return () => true;
  const names = only.flatMap((list) => list.split(',')).filter((name) => name !== '');
  const all = known();
  const choices = [...new Set(all.map(groupOf)), ...all.map(({ id }) => id)];
  for (const name of names)
    if (!choices.includes(name))
      throw badInput(
        `${name} is no check and no group.`,
        didYouMean(name, choices, 'See: call-webhooks check --list'),
      );
  return (check) => names.includes(check.id) || names.includes(groupOf(check));
}

/** Prints the grades, and writes the file of `--junit`. */
async function report(
  { output }: App,
  { junit }: DeepOptions,
  grades: readonly Grade[],
  url: string,
): Promise<void> {
  if (output.json) for (const one of grades) await output.print(recordOf(one));
  else
    await output.print(grades, (colors) =>
      byGroup(grades).flatMap(([group, own]) => groupLines(colors, group, own, output.columns)),
    );
  await output.print({ type: 'result', ...countsOf(grades) }, (colors) =>
    summaryLines(colors, grades),
  );
  if (junit !== undefined) await write(junit, junitOf(grades, url));
}

const recordOf = ({ check: { id, title, why, fix }, result, saw, ms }: Grade) => ({
  ...{ type: 'check', check: id, title, result, saw, ms, why, fix },
});

/** The grades of each group. */
const byGroup = (grades: readonly Grade[]) =>
  [...new Set(grades.map(({ check }) => groupOf(check)))].map(
    (group) => [group, grades.filter(({ check }) => groupOf(check) === group)] as const,
  );

function countsOf(grades: readonly Grade[]) {
  const count = (wanted: Grade['result']) =>
    grades.filter(({ result }) => result === wanted).length;
  return { passed: count('pass'), failed: count('fail'), skipped: count('skipped') };
}

/** One line for what passed, and all about each failure. */
function groupLines(
  colors: Colors,
  group: string,
  grades: readonly Grade[],
  columns: number,
): Text[] {
  const { passed, failed, skipped } = countsOf(grades);
  const label =
    failed > 0
      ? colors.red('FAILED ')
      : passed > 0
        ? colors.green('ok     ')
        : colors.dim('skipped');
  const counts = [
    ...(passed > 0 ? [`${String(passed)} passed`] : []),
    ...(failed > 0 ? [`${String(failed)} failed`] : []),
    ...(skipped > 0 ? [`${String(skipped)} skipped`] : []),
  ];
  const failures = grades.filter(({ result }) => result === 'fail');
  return [
    t`${label}  ${pad(group, 12)}  ${counts.join(', ')}`,
    ...failures.flatMap((one, at) => [
      ...failureLines(one, columns),
      // A fix of several failures in a row is shown once.
      ...(failures[at + 1]?.check.fix === one.check.fix
        ? []
        : paragraph(`Fix: ${one.check.fix}`, Math.min(columns, 80), 11)),
    ]),
  ];
}

function failureLines({ check: { id, title, why }, saw }: Grade, columns: number): Text[] {
  const lines = [
    `${title}: ${saw}.`,
    ...why.map(({ section, text }) => `Spec, ${section}: ${text}`),
  ];
  return [
    t`         ${id}`,
    ...lines.flatMap((line) => paragraph(line, Math.min(columns, 80), 11)),
  ];
}

/** Why checks were skipped, and the result. */
function summaryLines(colors: Colors, grades: readonly Grade[]): Text[] {
  const { passed, failed, skipped } = countsOf(grades);
  const reasons = new Map<string, number>();
  for (const { result, saw } of grades)
    if (result === 'skipped') reasons.set(saw, (reasons.get(saw) ?? 0) + 1);
  return [
    t``,
    ...[...reasons].map(([reason, count]) => colors.dim(`${String(count)} skipped: ${reason}`)),
    join(
      [
        colors.green(`${String(passed)} passed`),
        failed > 0 ? colors.red(`${String(failed)} failed`) : '0 failed',
        `${String(skipped)} skipped`,
      ],
      ', ',
    ),
  ];
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

/** The grades as JUnit XML: a test suite for each group. */
function junitOf(grades: readonly Grade[], url: string): string {
  const suites = byGroup(grades).map(([group, own]) =>
    [
      `  <testsuite name="${group}" ${attributesOf(own)}>`,
      ...own.flatMap(testCase),
      '  </testsuite>',
    ].join('\n'),
  );
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(`call-webhooks check --deep --to ${url}`)}" ${attributesOf(grades)}>`,
    ...suites,
    '</testsuites>',
    '',
  ].join('\n');
}

function attributesOf(grades: readonly Grade[]): string {
  const { failed, skipped } = countsOf(grades);
  const seconds = secondsOf(grades.reduce((sum, { ms }) => sum + ms, 0));
  return `tests="${String(grades.length)}" failures="${String(failed)}" errors="0" skipped="${String(skipped)}" time="${seconds}"`;
}

function testCase({ check: { id, title, why, fix }, result, saw, ms }: Grade): string[] {
  const open = `    <testcase name="${xml(title)}" classname="${id.replace('/', '.')}" time="${secondsOf(ms)}"`;
  if (result === 'pass') return [`${open}/>`];
  const text = [...why.map((one) => `${one.section}: ${one.text}`), fix].join('\n');
  const inner =
    result === 'fail'
      ? `<failure message="${xml(saw)}" type="${id}">${xml(text)}</failure>`
      : `<skipped message="${xml(saw)}"/>`;
  return [`${open}>`, `      ${inner}`, '    </testcase>'];
}

const secondsOf = (ms: number): string => (ms / 1_000).toFixed(3);

const ENTITIES: Readonly<Record<string, string>> = {
  ...{ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' },
};

const xml = (text: string): string =>
  text
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
    // XML 1.0 has no such characters, not even escaped.
    .replace(/(?![\n\t])\p{Cc}/gu, '');
