import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import {
  checksOf,
  serverErrorOf,
  grade,
  type Grade,
  isWantedByDefault,
  receiverWith,
} from '../grader/grade.ts';
import { type Check, DEFAULTS, type GradedReceiver, groupOf } from '../grader/receiver.ts';
import { BASELINE } from '../grader/vectors.ts';
import { callFieldNames, withFieldNameOption } from '../input/fields.ts';
import { didYouMean, repeatable } from '../input/options.ts';
import { givenSecrets, type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import { type ReceiverOptions, targetUrl, withReceiverOptions } from '../input/target.ts';
import { durationOption } from '../input/time.ts';
import { showProgress } from '../terminal/prompts.ts';
import { paragraph } from '../terminal/table.ts';
import { type Colors, pad, t, type Text } from '../terminal/text.ts';

interface CheckOptions extends SecretOptions, ReceiverOptions {
  readonly to?: string;
  readonly headerPrefix?: string;
  readonly timeout: number;
  readonly deep?: boolean;
  readonly only?: readonly string[];
  readonly runHandlers?: boolean;
  readonly fieldName?: readonly string[];
  readonly effects?: string;
  readonly effectsWithin: number;
  readonly junit?: string;
}

/** `check`: tests a receiver. */
export function checkCommand(app: App, base: Command): Command {
  const command = withFieldNameOption(
    base.option(
      '--to <url>',
      'the URL of the receiver; 3000/hook means http://127.0.0.1:3000/hook',
    ),
  );
  return withReceiverOptions(withSecretOptions(command))
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .addOption(durationOption('--timeout <duration>', 'how long to wait for each response', 30_000))
    .option('--deep', 'run all checks')
    .option('--only <checks>', 'only these checks or groups; repeatable', repeatable)
    .option('--run-handlers', 'send marked test events that your handlers will handle')
    .option('--effects <url>', 'where the receiver reports its effects')
    .addOption(
      durationOption('--effects-within <duration>', 'how long to wait for effects', 10_000),
    )
    .option('--junit <file>', 'also write JUnit XML')
    .addHelpText(
      'after',
      `
Sends an unsigned and a forged event. If you give a secret, the command also
sends a genuine event, a replay, a stale event, one from the future and one that
was tampered with. If you give several secrets, it sends a genuine event for
each, and uses the first one that the receiver accepts for all other checks.
These events have a name without a handler, so none of your handlers runs.

With --deep, the command runs about 120 checks. Each check follows from a
sentence of the interface.

Exit code 1 if a response is wrong, and 3 if nothing listens at the URL.
${examples(
  ['check --to 3000/hook', 'Check without a secret'],
  [
    'check --to https://hooks.example.com/hook --allow-external',
    'Check a deployment before it goes live',
  ],
  ['check --deep --to 3000/hook', 'Run all checks, without running a handler'],
  [
    'check --deep --to 3000/hook --effects 3000/effects',
    'Also check races and failures of a receiver that reports its effects',
  ],
)}`,
    )
    .action(app.action((options: CheckOptions) => check(app, options)));
}

async function check(app: App, options: CheckOptions): Promise<number> {
  const { io, output } = app;
  const receiver = await receiverOf(app, options);
  const isWanted = selection(receiver, options);
  const total = checksOf(receiver).filter((one) => isWanted(one) || one.id === BASELINE).length;
  const progress = showProgress(io);
  const judged: Grade[] = [];
  let grades: readonly Grade[] = judged;
  try {
    grades = await grade(receiver, isWanted, (one) => {
      progress.update(judged.push(one), total);
    });
  } finally {
    progress.clear();
    // After an error, what was judged is still worth a report.
    if (grades.length > 0) await report(app, options, grades, receiver.options.url);
  }
  if (receiver.options.secret === undefined)
    output.message(
      'Most checks need a secret: set CALL_WEBHOOK_SECRET to the secret of the receiver.',
    );
  output.message(SHOWN_BY_STATUS);
  const failure = serverErrorOf(grades);
  if (failure !== undefined) output.message(output.messageColors.red(failure));
  const isBad = failure !== undefined || grades.some(({ result }) => result === 'fail');
  return isBad ? EXIT.attention : EXIT.done;
}

/** Nobody can tell them from those of an attacker. */
const SHOWN_BY_STATUS =
  'For some minutes, status counts the requests that the receiver rejected in this check, as it does any others.';

/** The receiver of the flags. @throws CliError 2 */
async function receiverOf({ io }: App, options: CheckOptions): Promise<GradedReceiver> {
  const { to, effects, allowExternal, headerPrefix, insecure } = options;
  if (to === undefined) throw badInput('--to is missing.', 'Pass the receiver: --to URL');
  const url = targetUrl(to, allowExternal);
  const effectsUrl = effects && targetUrl(effects, allowExternal);
  const target = {
    ...DEFAULTS,
    url,
    effectsUrl,
    headerPrefix,
    insecure,
    runHandlers: options.runHandlers === true || effectsUrl !== undefined,
    fieldNames: callFieldNames(options.fieldName),
    effectsWithinMs: options.effectsWithin,
    timeoutMs: options.timeout,
    signal: io.signal,
  };
  return receiverWith(target, await givenSecrets(io, options));
}

/** The checks of `--only`: ids, or groups. @throws CliError 2 for a name that is neither */
function selection(
  receiver: GradedReceiver,
  { only, deep }: CheckOptions,
): (check: Check) => boolean {
  if (only === undefined) return deep ? () => true : isWantedByDefault(receiver);
  const all = checksOf(receiver);
  const names = only.flatMap((list) => list.split(','));
  const groups = [...new Set(all.map(groupOf))];
  const choices = [...groups, ...all.map(({ id }) => id)];
  for (const name of names)
    if (!choices.includes(name))
      throw badInput(
        `There is no check or group named ${name}.`,
        didYouMean(name, choices, `Groups: ${groups.join(', ')}. --json names the checks.`),
      );
  return (check) => names.includes(check.id) || names.includes(groupOf(check));
}

/** Prints the grades, and writes the file of `--junit`. */
async function report(
  { output }: App,
  { deep, junit }: CheckOptions,
  grades: readonly Grade[],
  url: string,
): Promise<void> {
  if (output.json)
    for (const { check, fix, ...found } of grades) {
      const { id, title, why } = check;
      await output.print({ type: 'check', check: id, title, ...found, why, fix });
    }
  else
    await output.print(undefined, (colors) =>
      deep
        ? byGroup(grades).flatMap(([group, own]) =>
            gradeLines(colors, pad(group, 12), own, countsText(countsOf(own)), output.columns),
          )
        : grades.flatMap((one) =>
            gradeLines(colors, pad(one.check.id, 22), [one], one.saw, output.columns),
          ),
    );
  await output.print({ type: 'result', ...countsOf(grades) }, (colors) =>
    summaryLines(colors, grades),
  );
  if (junit !== undefined) await writeFile(junit, junitOf(grades, url));
}

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
function gradeLines(
  { red, green, dim }: Colors,
  name: Text,
  grades: readonly Grade[],
  said: string,
  columns: number,
): Text[] {
  const failures = grades.filter(({ result }) => result === 'fail');
  const passed = grades.some(({ result }) => result === 'pass') ? green('ok     ') : dim('skipped');
  return [
    t`${failures.length > 0 ? red('FAILED ') : passed}  ${name}  ${said}`,
    ...failures.flatMap(({ check: { id, title, why }, saw, fix }, at) => [
      ...(name.plain.trim() === id ? [] : [t`         ${id}`]),
      ...[
        `${title}: ${saw}.`,
        ...why.map(({ section, text }) => `Spec, ${section}: ${text}`),
        // A fix of several failures in a row is shown once.
        ...(failures[at + 1]?.fix === fix ? [] : [`Fix: ${fix}`]),
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
    `<testsuites name="${xml(`npx call-webhooks check --to ${url}`)}" ${attributesOf(grades)}>`,
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

function testCase({ check: { id, title, why }, result, saw, fix, ms }: Grade): string {
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
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

const xml = (text: string): string =>
  text
    .replace(/[&<>"]/g, (char) => ENTITIES[char] ?? char)
    // XML 1.0 has no such characters, not even escaped.
    .replace(/(?![\n\t])\p{Cc}/gu, '');
