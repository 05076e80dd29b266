import { Option, type Command } from 'commander';
import { examples, type App } from '../../app.ts';
import { badInput, EXIT } from '../../errors.ts';
import { describeResult, requireReached } from '../../http/effect.ts';
import { post, type PostResult } from '../../http/post.ts';
import { durationOption, repeatable, wholeNumber } from '../../input/options.ts';
import { givenSecrets, withSecretOptions } from '../../input/secrets.ts';
import { targetUrl, withExternalOption } from '../../input/target-url.ts';
import type { Colors } from '../../terminal/colors.ts';
import { paragraph } from '../../terminal/fit.ts';
import { pad, t, type Text } from '../../terminal/text.ts';
import { allFailed } from './all-failed.ts';
import type { DeepOptions } from './deep.ts';
import { createProbes, type Probe } from './probes.ts';

interface CheckOptions extends DeepOptions {
  readonly deep?: boolean;
  readonly list?: boolean;
}

/** `check`: tests a receiver. */
export function checkCommand(app: App, base: Command): Command {
  const command = base
    .option('--to <url>', 'the URL of the receiver')
    .option('--header-prefix <prefix>', 'the prefix of the signature headers (X-Service)')
    .addOption(
      durationOption('--timeout <duration>', 'how long to wait for each response', 30_000),
    );
  return withDeepOptions(withExternalOption(withSecretOptions(command)))
    .addHelpText(
      'after',
      `
Sends a GET, an unsigned event and a forged one. With a secret, also a stale
event, one from the future, a tampered one, an authentic one and its replay.
The authentic event has a name that no one handles, so none of your handlers
runs. Exit code 1 if a response is wrong, 3 if nothing listens there.

With --deep it runs some 90 probes, each of which rests on a sentence of the
interface, and prints a score from 0 to 100. Exit code 1 below --min-score.
${examples(
  ['check --to 3000/hook', 'Without a secret'],
  [
    'check --to https://hooks.example.com/hook --allow-external',
    'In production, before it goes live',
  ],
  ['check --deep --to 3000/hook', 'Grade it, without running its handlers'],
  [
    'check --deep --to 3000/hook --effects 3000/effects',
    'Grade a receiver that reports its effects',
  ],
)}`,
    )
    .action(app.action((options: CheckOptions) => check(app, options)));
}

const withDeepOptions = (command: Command): Command =>
  command
    .option('--deep', 'run all probes, and grade the receiver')
    .option('--list', 'list the probes of --deep')
    .option('--only <probes>', 'with --deep: only these probes or groups; repeatable', repeatable)
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
    .option('--restart <command>', 'with --deep: a command that restarts the receiver')
    .addOption(
      durationOption('--restart-within <duration>', 'with --deep: how long that takes', 90_000),
    )
    .addOption(
      new Option('--min-score <points>', 'with --deep: the score to reach')
        .argParser(wholeNumber('--min-score', 0, 100))
        .default(100),
    )
    .addOption(
      durationOption('--max-time <duration>', 'with --deep: how long it may take', 300_000),
    )
    .option('--junit <file>', 'with --deep: also write JUnit XML')
    .option('--sarif <file>', 'with --deep: also write SARIF 2.1.0');

const DEEP_ONLY = [
  'only',
  'runHandlers',
  'fieldName',
  'effects',
  'restart',
  'junit',
  'sarif',
] as const;

async function check(app: App, options: CheckOptions): Promise<number> {
  const { io, output, signal } = app;
  if (options.list || options.deep) {
    const { checkDeeply, listProbes } = await import('./deep.ts');
    if (options.deep && !options.list) return checkDeeply(app, options);
    return listProbes(app);
  }
  if (DEEP_ONLY.some((name) => options[name] !== undefined))
    throw badInput('This option needs --deep.', 'Add --deep.');
  if (options.to === undefined) throw badInput('--to is missing.', 'Pass the receiver: --to URL');
  const url = targetUrl(options.to, options.allowExternal);
  const [secret] = await givenSecrets(io, options);
  const findings: Finding[] = [];
  const results: PostResult[] = [];
  let printed = 0;
  // Findings wait for as long as every request fails in the same way.
  const printFindings = async () => {
    for (; printed < findings.length; printed++) {
      const [before, finding] = [findings[printed - 1], findings[printed]];
      // A fix that applies to several probes in a row is shown once.
      const fix = before?.fix === finding?.fix ? undefined : finding?.fix;
      if (finding)
        await output.print(finding, (colors) => [
          findingLine(colors, finding),
          ...(fix === undefined ? [] : paragraph(fix, output.columns, 7)),
        ]);
    }
  };
  for (const probe of await createProbes(secret, options.headerPrefix)) {
    const { method, headers, body } = probe;
    const { timeout } = options;
    const result = await post({ url, method, headers, body, timeout }, signal);
    if (findings.length === 0) requireReached(url, result);
    results.push(result);
    findings.push(findingOf(probe, result));
    if (output.json || allFailed(results) === undefined) await printFindings();
  }
  const failure = allFailed(results);
  if (failure !== undefined) {
    output.message(output.messageColors.red(failure));
    return EXIT.receiverFailed;
  }
  if (secret === undefined)
    output.message('Set CALL_WEBHOOK_SECRET to the secret of the receiver for five more tests.');
  const wrong = findings.filter(({ result }) => result === 'wrong').length;
  if (wrong === 0) return EXIT.done;
  output.message(output.messageColors.red(`${wrong} of ${findings.length} responses are wrong.`));
  return EXIT.receiverFailed;
}

/** The result of one probe. */
interface Finding {
  readonly probe: string;
  readonly result: 'ok' | 'warning' | 'wrong';
  readonly response: string;
  readonly expected: string;
  readonly fix?: string;
}

const EXPECTED = { refused: '401', accepted: '2xx', 'not-post': '405' } as const;

/** Judges a response. What harms the rule comes first, then what the probe expects. */
function findingOf(probe: Probe, posted: PostResult): Finding {
  const finding = (result: Finding['result'], fix?: string): Finding => ({
    probe: probe.name,
    result,
    response: describeResult(posted),
    expected: probe.name === 'replayed' ? '409' : EXPECTED[probe.expected],
    ...(fix !== undefined && { fix }),
  });
  if (posted.kind !== 'status')
    return finding('wrong', 'There is no response. Is the receiver running at this address?');
  const { status } = posted;
  if (status === 404)
    return finding(
      'wrong',
      'A 404 pauses the rule at once. Check the path, and return 503 for unknown paths.',
    );
  if (status === 410) return finding('wrong', 'Return 503 instead of 410, which means "gone".');
  if (status < 200 || (status >= 300 && status < 400))
    return finding('wrong', 'A redirect is a failed delivery. Use the final URL in the action.');
  const accepted = status < 300;
  if (accepted !== (probe.expected === 'accepted'))
    return finding(probe.expected === 'not-post' ? 'warning' : 'wrong', probe.fix);
  if (probe.expected !== 'accepted' && status >= 500)
    return finding('warning', 'The request was refused, but as a server error. Check the log.');
  return finding('ok');
}

const PROBE_WIDTH = 'ahead of time'.length;

function findingLine(colors: Colors, { probe, result, response, expected }: Finding): Text {
  const label = {
    ok: colors.green('ok   '),
    warning: colors.yellow('warn '),
    wrong: colors.red('wrong'),
  }[result];
  const head = t`${label}  ${pad(probe, PROBE_WIDTH)}  ${response}`;
  return result === 'ok' ? head : t`${head}  ${colors.dim(`expected ${expected}`)}`;
}
