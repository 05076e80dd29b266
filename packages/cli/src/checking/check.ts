import type { App } from '../app.ts';
import { EXIT } from '../exit.ts';
import { send } from '../http/post.ts';
import { reached } from '../http/reached.ts';
import { secretsGiven, type SecretOptions } from '../input/secrets.ts';
import { targetUrl } from '../input/target-url.ts';
import type { Ink } from '../terminal/ink.ts';
import { padded, t, type Text } from '../terminal/text.ts';
import { findingOf, type Finding } from './finding.ts';
import { probes } from './probes.ts';

/** The flags of `check`. */
export interface CheckOptions extends SecretOptions {
  readonly to: string;
  readonly headerPrefix?: string;
  readonly timeout: number;
  readonly allowExternal?: boolean;
}

/** Asks a receiver what the world will ask of it, and tells what to mend. */
export async function check(app: App, options: CheckOptions): Promise<number> {
  const { io, output, signal } = app;
  const url = targetUrl(options.to, options.allowExternal);
  const [secret] = await secretsGiven(io, options);
  const findings: Finding[] = [];
  for (const probe of await probes(secret, options.headerPrefix)) {
    const { method, headers, body } = probe;
    const answer = await send({ url, method, headers, body, timeout: options.timeout }, signal);
    if (findings.length === 0) reached(url, answer);
    const finding = findingOf(probe, answer);
    findings.push(finding);
    await output.show(finding, (ink) => shown(ink, finding));
  }
  if (secret === undefined)
    output.say(
      'With the secret of the receiver, five more things are asked: $CALL_WEBHOOK_SECRET.',
    );
  const wrong = findings.filter(({ verdict }) => verdict === 'wrong').length;
  if (wrong === 0) return EXIT.done;
  output.say(output.talk.red(`${String(wrong)} of ${String(findings.length)} wrong.`));
  return EXIT.receiverFailed;
}

const WIDTH = 'ahead of time'.length;

function shown(ink: Ink, { probe, verdict, answer, expected, fix }: Finding): Text[] {
  const mark = { ok: ink.green('ok   '), warning: ink.yellow('warn '), wrong: ink.red('wrong') }[
    verdict
  ];
  const head = t`${mark}  ${padded(probe, WIDTH)}  ${answer}`;
  if (verdict === 'ok') return [head];
  return [
    t`${head}  ${ink.dim(`expected ${expected}`)}`,
    ...(fix === undefined ? [] : [t`       ${fix}`]),
  ];
}
