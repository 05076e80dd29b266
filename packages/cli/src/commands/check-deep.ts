import { writeFile } from 'node:fs/promises';
import { sign } from '@call-webhooks/core';
import { DEFAULT_FIELD_NAMES } from '@call-webhooks/core/internal';
import type { App } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { checksOf, grade, type Grade } from '../grader/grade.ts';
import { type Check, GradedReceiver, type GradingOptions, groupOf } from '../grader/receiver.ts';
import { fieldNames } from '../input/fields.ts';
import { didYouMean } from '../input/options.ts';
import { givenSecrets } from '../input/secrets.ts';
import { targetUrl } from '../input/target.ts';
import { showProgress } from '../terminal/prompts.ts';
import { paragraph } from '../terminal/table.ts';
import { type Colors, pad, t, type Text } from '../terminal/text.ts';
import { type CheckOptions, receiverUrl } from './check.ts';

/** The flags of `check --deep`. */
export interface DeepOptions {
  readonly deep?: boolean;
  readonly only?: readonly string[];
  readonly runHandlers?: boolean;
  readonly fieldName?: readonly string[];
  readonly effects?: string;
  readonly effectsWithin: number;
  readonly junit?: string;
}

const FIELDS = Object.keys(DEFAULT_FIELD_NAMES) as (keyof typeof DEFAULT_FIELD_NAMES)[];

/** `check --deep`: runs all checks. */
export async function checkDeeply(app: App, options: CheckOptions & DeepOptions): Promise<number> {
  const { io, output } = app;
  const grading = await gradingOf(app, options);
  const { url, secret } = grading;
  const all = checksOf(new GradedReceiver(grading));
  const isWanted = selection(all, options.only);
  const total = all.filter(isWanted).length;
  const shown = showProgress(io);
  const judged: Grade[] = [];
  let grades: readonly Grade[] = judged;
  try {
    grades = await grade(grading, isWanted, (one) => {
      shown.update(judged.push(one), total);
    });
  } finally {
    shown.clear();
    // After an error, what was judged is still worth a report.
    if (grades.length > 0) await report(app, options, grades, url);
  }
  if (secret === undefined)
    output.message('Set CALL_WEBHOOK_SECRET to the secret of the receiver for most checks.');
  const hasFailed = grades.some(({ result }) => result === 'fail');
  return hasFailed ? EXIT.receiverFailed : EXIT.done;
}

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
    retryForMs: 10_000,
    acknowledgeWithinMs: 30_000,
    signal: io.signal,
  };
}

/** The checks of `--only`: ids, or groups. @throws CliError 2 for a name that is neither */
function selection(
  all: readonly Check[],
  only: readonly string[] | undefined,
): (check: Check) => boolean {
  if (only === undefined) return () => true;
  const names = only.flatMap((list) => list.split(','));
  const groups = [...new Set(all.map(groupOf))];
  const choices = [...groups, ...all.map(({ id }) => id)];
  for (const name of names)
    if (!choices.includes(name))
      throw badInput(
        `${name} is no check and no group.`,
        didYouMean(name, choices, `Groups: ${groups.join(', ')}. --json names the checks.`),
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
  if (junit !== undefined) await writeFile(junit, junitOf(grades, url));
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

const countsText = ({ passed, failed, skipped }: ReturnType<typeof countsOf>): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`;

/** One line for what passed, and all about each failure. */
function groupLines(
  { red, green, dim }: Colors,
  group: string,
  grades: readonly Grade[],
  columns: number,
): Text[] {
  const counts = countsOf(grades);
  const passed = counts.passed > 0 ? green('ok     ') : dim('skipped');
  const label = counts.failed > 0 ? red('FAILED ') : passed;
  const failures = grades.filter(({ result }) => result === 'fail');
  return [
    t`${label}  ${pad(group, 12)}  ${countsText(counts)}`,
    ...failures.flatMap(({ check: { id, title, why, fix }, saw }, at) => [
      t`         ${id}`,
      ...[
        `${title}: ${saw}.`,
        ...why.map(({ section, text }) => `Spec, ${section}: ${text}`),
        // A fix of several failures in a row is shown once.
        ...(failures[at + 1]?.check.fix === fix ? [] : [`Fix: ${fix}`]),
      ].flatMap((line) => paragraph(line, columns, 11)),
    ]),
  ];
}

/** Why checks were skipped, and the result. */
function summaryLines({ dim, green, red }: Colors, grades: readonly Grade[]): Text[] {
  const reasons = new Map<string, number>();
  for (const { result, saw } of grades)
    if (result === 'skipped') reasons.set(saw, (reasons.get(saw) ?? 0) + 1);
  const counts = countsOf(grades);
  return [
    t``,
    ...[...reasons].map(([reason, count]) => dim(`${String(count)} skipped: ${reason}`)),
    (counts.failed > 0 ? red : green)(countsText(counts)),
  ];
}

/** The grades as JUnit XML: a test suite for each group. */
const junitOf = (grades: readonly Grade[], url: string): string =>
  [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${xml(`call-webhooks check --deep --to ${url}`)}" ${attributesOf(grades)}>`,
    ...byGroup(grades).flatMap(([group, own]) => [
      `  <testsuite name="${group}" ${attributesOf(own)}>`,
      ...own.map(testCase),
      '  </testsuite>',
    ]),
    '</testsuites>\n',
  ].join('\n');

function attributesOf(grades: readonly Grade[]): string {
  const { failed, skipped } = countsOf(grades);
  const seconds = secondsOf(grades.reduce((sum, { ms }) => sum + ms, 0));
  return `tests="${grades.length}" failures="${failed}" errors="0" skipped="${skipped}" time="${seconds}"`;
}

function testCase({ check: { id, title, why, fix }, result, saw, ms }: Grade): string {
  const text = [...why.map((one) => `${one.section}: ${one.text}`), fix].join('\n');
  const inner = {
    pass: '',
    fail: `<failure message="${xml(saw)}" type="${id}">${xml(text)}</failure>`,
    skipped: `<skipped message="${xml(saw)}"/>`,
  }[result];
  return `    <testcase name="${xml(title)}" classname="${id.replace('/', '.')}" time="${secondsOf(ms)}">${inner}</testcase>`;
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
