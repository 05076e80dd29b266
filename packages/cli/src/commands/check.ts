import { createVectors } from '@call-webhooks/contract';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput, EXIT } from '../errors.ts';
import { CALL_ID_PREFIX, UNHANDLED_EVENT } from '../grader/receiver.ts';
import { requestOf } from '../grader/vectors.ts';
import { describeResult, foreignStatus, requireReached } from '../http/effects.ts';
import { post, type PostResult } from '../http/post.ts';
import { durationOption, repeatable } from '../input/options.ts';
import { givenSecrets, type SecretOptions, withSecretOptions } from '../input/secrets.ts';
import {
  type ReceiverOptions,
  type Target,
  targetUrl,
  withReceiverOptions,
} from '../input/target.ts';
import { paragraph } from '../terminal/table.ts';
import { pad, t } from '../terminal/text.ts';
import type { DeepOptions } from './check-deep.ts';

/** The flags of both kinds of `check`. */
export interface CheckOptions extends SecretOptions, ReceiverOptions {
  readonly to?: string;
  readonly headerPrefix?: string;
  readonly timeout: number;
}

/** `check`: tests a receiver. */
export function checkCommand(app: App, base: Command): Command {
  const command = base
    .option('--to <url>', 'the URL of the receiver')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .addOption(
      durationOption('--timeout <duration>', 'how long to wait for each response', 30_000),
    );
  return withDeepOptions(withReceiverOptions(withSecretOptions(command)))
    .addHelpText(
      'after',
      `
Sends a GET, an unsigned event and a forged one. With a secret, also a stale
event, one from the future, a tampered one, an authentic one and its replay.
The authentic event has a name that no one handles, so none of your handlers
runs. Exit code 1 if a response is wrong, 3 if nothing listens there.

With --deep it runs some 120 checks, each of which rests on a sentence of the
interface. Exit code 1 if one fails.
${examples(
  ['check --to 3000/hook', 'Without a secret'],
  [
    'check --to https://hooks.example.com/hook --allow-external',
    'In production, before it goes live',
  ],
  ['check --deep --to 3000/hook', 'All checks, without running its handlers'],
  [
    'check --deep --to 3000/hook --effects 3000/effects',
    'Also races and failures, of a receiver that reports its effects',
  ],
)}`,
    )
    .action(app.action((options: CheckOptions & DeepOptions) => run(app, options)));
}

const withDeepOptions = (command: Command): Command =>
  command
    .option('--deep', 'run all checks')
    .option('--only <checks>', 'with --deep: only these checks or groups; repeatable', repeatable)
    .option('--run-handlers', 'with --deep: also send marked test events that handlers handle')
    .option(
      '--field-name <name=field>',
      'with --deep: the real name of a field, such as placedBy=owner; repeatable',
      repeatable,
    )
    .option('--effects <url>', 'with --deep: where the receiver reports its effects')
    .addOption(
      durationOption('--effects-within <duration>', 'with --deep: how long effects take', 10_000),
    )
    .option('--junit <file>', 'with --deep: also write JUnit XML');

const DEEP_ONLY = ['only', 'runHandlers', 'fieldName', 'effects', 'junit'] as const;

async function run(app: App, options: CheckOptions & DeepOptions): Promise<number> {
  if (options.deep) return (await import('./check-deep.ts')).checkDeeply(app, options);
  if (DEEP_ONLY.some((name) => options[name] !== undefined))
    throw badInput('This option needs --deep.', 'Add --deep.');
  return check(app, options);
}

async function check(app: App, options: CheckOptions): Promise<number> {
  const { output } = app;
  const [secret] = await givenSecrets(app.io, options);
  const { findings, failure } = await checkReceiver(
    { ...options, url: receiverUrl(options), secret },
    app.signal,
  );
  if (failure !== undefined && !output.json) {
    output.message(output.messageColors.red(failure));
    return EXIT.receiverFailed;
  }
  await printFindings(app, findings);
  if (secret === undefined)
    output.message('Set CALL_WEBHOOK_SECRET to the secret of the receiver for five more tests.');
  const wrong = findings.filter(({ result }) => result === 'wrong').length;
  if (wrong === 0) return EXIT.done;
  output.message(output.messageColors.red(`${wrong} of ${findings.length} responses are wrong.`));
  return EXIT.receiverFailed;
}

/** What a receiver made of all requests. */
interface CheckResult {
  readonly findings: readonly Finding[];
  /** Set if it answers everything with the same server error, so that nothing was tested. */
  readonly failure: string | undefined;
  /** How far its clock is ahead of ours, if it tells the time; milliseconds. */
  readonly clockAhead: number | undefined;
}

/** Sends all requests. None of them runs a handler. @throws CliError 3 when nothing listens there */
export async function checkReceiver(
  {
    url,
    secret,
    headerPrefix,
    insecure,
    timeout,
  }: Omit<Target, 'secret'> & {
    readonly secret: string | undefined;
  },
  signal: AbortSignal,
): Promise<CheckResult> {
  const vectors = createVectors({
    now: Math.floor(Date.now() / 1_000) * 1_000,
    seed: crypto.randomUUID(),
    secret,
    callIdPrefix: CALL_ID_PREFIX,
    eventName: UNHANDLED_EVENT,
  }).flatMap((file) => file.vectors);
  const findings: Finding[] = [];
  const statuses = new Set<number>();
  let clockAhead: number | undefined;
  for (const request of secret === undefined ? UNSIGNED : [...UNSIGNED, ...SIGNED]) {
    const { vector, at = 0 } = request;
    const delivery = vectors.find(({ id }) => id === vector)?.deliveries[at];
    const content = delivery
      ? requestOf(delivery, headerPrefix)
      : { method: 'GET', headers: {}, body: new Uint8Array() };
    const result = await post({ url, insecure, timeout, ...content }, signal);
    if (findings.length === 0) requireReached(url, result, true);
    statuses.add(result.kind === 'status' ? result.status : 0);
    if (result.kind === 'status' && result.headers.date !== undefined)
      clockAhead = Date.parse(result.headers.date) - Date.now();
    findings.push(findingOf(request, result));
  }
  const [only = 0] = statuses;
  const failure =
    statuses.size === 1 && only >= 500
      ? `The receiver responds ${String(only)} to everything, so nothing could be tested. Its log has the error.`
      : undefined;
  return { findings, failure, clockAhead };
}

/** The URL of `--to`. @throws CliError 2 */
export function receiverUrl({ to, allowExternal }: CheckOptions): string {
  if (to === undefined) throw badInput('--to is missing.', 'Pass the receiver: --to URL');
  return targetUrl(to, allowExternal);
}

/** One request of `check`, in order: the replay comes after its original. */
interface Request {
  readonly name: string;
  /** Of the contract's test vectors; a GET without one. */
  readonly vector?: string;
  /** Which delivery of the vector; 0 by default. */
  readonly at?: number;
  /** The right status. */
  readonly expected: '401' | '2xx' | '405' | '409';
  /** What to change in a receiver that responds differently. */
  readonly fix: string;
}

const UNSIGNED: readonly Request[] = [
  {
    ...{ name: 'GET', expected: '405' },
    fix: 'Return 405 for other methods: mount app.all(path, …) instead of app.post(path, …).',
  },
  {
    ...{ name: 'unsigned', vector: 'headers/none', expected: '401' },
    fix: 'The receiver accepts unsigned requests. Verify first, and return 401.',
  },
  {
    ...{ name: 'forged', vector: 'signature/other-secret', expected: '401' },
    fix: 'The receiver accepts any signature. Compare it, and return 401.',
  },
];

/** They need the secret. */
const SIGNED: readonly Request[] = [
  {
    ...{ name: 'stale', vector: 'clock/6-minutes-ago', expected: '401' },
    fix: 'The receiver accepts a timestamp from six minutes ago. Refuse a difference above 300 s.',
  },
  {
    ...{ name: 'ahead of time', vector: 'clock/6-minutes-ahead', expected: '401' },
    fix: 'The receiver accepts a timestamp six minutes ahead. Check both directions.',
  },
  {
    ...{ name: 'tampered', vector: 'signature/other-body', expected: '401' },
    fix: 'The receiver accepts a modified body. Verify the raw bytes that arrived.',
  },
  {
    ...{ name: 'authentic', vector: 'replays/at-once', expected: '2xx' },
    fix: 'The receiver rejects an authentic event with an unknown name. Check that it uses this secret, that it verifies the raw body before any parser, and that it returns 2xx for unknown events.',
  },
  {
    ...{ name: 'replayed', vector: 'replays/at-once', at: 1, expected: '409' },
    fix: 'The receiver accepts the same webhook id twice. Remember ids for ten minutes, and return 409.',
  },
];

/** What a receiver made of one request. */
export interface Finding {
  readonly probe: string;
  readonly result: 'ok' | 'warning' | 'wrong';
  readonly response: string;
  readonly expected: string;
  readonly fix?: string;
}

/** Judges a response. What harms the rule comes first, then what is expected. */
function findingOf({ name, expected, fix }: Request, posted: PostResult): Finding {
  const finding = (result: Finding['result'], fix?: string): Finding => ({
    ...{ probe: name, result, response: describeResult(posted), expected },
    ...(fix !== undefined && { fix }),
  });
  if (posted.kind !== 'status')
    return finding('wrong', 'There is no response. Is the receiver running at this address?');
  const { status } = posted;
  if (status < 200 || (status >= 300 && status < 400) || status === 404 || status === 410)
    return finding('wrong', foreignStatus(status).fix);
  if (status < 300 !== (expected === '2xx'))
    return finding(expected === '405' ? 'warning' : 'wrong', fix);
  if (expected !== '2xx' && status >= 500)
    return finding('warning', 'The request was rejected, but as a server error. Check the log.');
  return finding('ok');
}

async function printFindings({ output }: App, findings: readonly Finding[]): Promise<void> {
  const NAME_WIDTH = 'ahead of time'.length;
  for (const [at, finding] of findings.entries()) {
    const { probe, result, response, expected } = finding;
    // A fix that applies to several requests in a row is shown once.
    const fix = findings[at - 1]?.fix === finding.fix ? undefined : finding.fix;
    await output.print(finding, ({ green: ok, yellow: warning, red: wrong, dim }) => {
      const label = { ok: ok('ok   '), warning: warning('warn '), wrong: wrong('wrong') }[result];
      const head = t`${label}  ${pad(probe, NAME_WIDTH)}  ${response}`;
      return [
        result === 'ok' ? head : t`${head}  ${dim(`expected ${expected}`)}`,
        ...(fix === undefined ? [] : paragraph(fix, output.columns, 7)),
      ];
    });
  }
}
