import { sign } from '@call-webhooks/core';
import type { App } from '../app.ts';
import { EXIT } from '../exit.ts';
import { described, judge, MEANING } from '../http/judgement.ts';
import { send as post, type Answer } from '../http/post.ts';
import { reached } from '../http/reached.ts';
import { headerRecord } from '../input/headers.ts';
import { secretsNeeded, type SecretOptions } from '../input/secrets.ts';
import { targetUrl } from '../input/target-url.ts';
import { secret as askSecret } from '../terminal/ask.ts';
import { bodyLines } from '../terminal/body.ts';
import type { Ink } from '../terminal/ink.ts';
import { t, type Text } from '../terminal/text.ts';
import { duration } from '../terminal/time.ts';
import { bodyOf, type BodyOptions } from './body.ts';
import { curlCommand } from './curl.ts';

/** The flags of `send`. */
export interface SendOptions extends SecretOptions, BodyOptions {
  readonly to: string;
  readonly curl?: boolean;
  readonly header?: readonly string[];
  readonly headerPrefix?: string;
  readonly webhookId?: string;
  readonly timestamp?: number;
  readonly timeout: number;
  readonly allowExternal?: boolean;
}

/** Signs one delivery, and sends it, or prints the command that would. */
export async function send(app: App, eventName: string, options: SendOptions): Promise<number> {
  const { io, output, signal } = app;
  const url = targetUrl(options.to, options.allowExternal);
  const more = headerRecord(options.header ?? []);
  const body = await bodyOf(io, eventName, options);
  const ask = app.interactive
    ? () => askSecret(app, 'The signing secret of the receiver')
    : undefined;
  const [secret] = await secretsNeeded(io, options, ask);
  const { headerPrefix, webhookId, timestamp } = options;
  const signature = await sign({ secret, body, headerPrefix, webhookId, timestamp });
  const headers = { 'Content-Type': 'application/json', ...more, ...signature };
  if (options.curl) {
    const untouched = options.set === undefined && options.data?.startsWith('@');
    const file = untouched ? options.data?.slice(1) : undefined;
    const command = curlCommand({ url, headers, body, file });
    if (output.json) await output.show({ command }, () => []);
    else await output.raw(`${command}\n`);
    return EXIT.done;
  }
  const outgoing = { url, headers, body, timeout: options.timeout };
  const answer = reached(url, await post(outgoing, signal));
  const judgement = judge(answer);
  await output.show(record(url, headers, answer, judgement), (ink) => told(ink, answer));
  return judgement === 'acknowledged' ? EXIT.done : EXIT.receiverFailed;
}

function record(url: string, headers: object, answer: Answer, judgement: string): object {
  const shown =
    answer.kind === 'status' ? { ...answer, body: answer.body.toString('utf8') } : answer;
  return { request: { url, headers }, answer: shown, judgement };
}

function told(ink: Ink, answer: Answer): Text[] {
  const judgement = judge(answer);
  const paint = judgement === 'acknowledged' ? ink.green : ink.red;
  const head = t`${paint(described(answer))}  ${ink.dim(duration(answer.ms))}  ${MEANING[judgement]}`;
  return [head, ...(answer.kind === 'status' ? bodyLines(answer.body, 20) : [])];
}
