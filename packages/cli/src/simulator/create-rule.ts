import { badInput } from '../cli-error.ts';
import { dataBytes } from '../input/read.ts';
import { secretsGiven, type SecretOptions } from '../input/secrets.ts';
import { targetUrl } from '../input/target-url.ts';
import type { Io } from '../io.ts';
import type { Connection } from './connection.ts';
import type { Rule } from './views.ts';

/** The flags of `rules create`. */
export interface CreateOptions extends SecretOptions {
  readonly url: string;
  readonly trigger?: string;
  readonly name?: string;
  readonly scope?: string;
  readonly payload?: string;
  readonly unsigned?: boolean;
  readonly showSecret?: boolean;
}

/** Makes a rule, the recording webhook, or everything that one receiver needs. @throws CliError */
export async function createRule(
  io: Io,
  connection: Connection,
  options: CreateOptions,
): Promise<Rule[]> {
  const { trigger, name, scope, payload } = options;
  // Whether it may be another machine is for the simulator to say.
  const url = targetUrl(options.url, true);
  const [secret] = options.unsigned ? [] : await secretsGiven(io, options);
  const recording = trigger === 'call:recording-available';
  if (payload !== undefined && (trigger === undefined || recording))
    throw badInput('A custom payload belongs to one rule: add --trigger call:completed, say.');
  if (trigger === undefined && !options.unsigned)
    return connection.post('/forward', { url, ...(secret !== undefined && { secret }) });
  const action = {
    url,
    ...(options.unsigned ? { signed: false } : {}),
    ...(secret !== undefined && { secret }),
    ...(payload !== undefined && { payload: await jsonOf(io, payload) }),
  };
  const rule = (event: string) =>
    event === 'call:recording-available'
      ? connection.post<Rule>('/recording-webhook', action)
      : connection.post<Rule>('/rules', { trigger: event, name, scope, actions: [action] });
  const events =
    trigger === undefined
      ? ['call:started', 'call:completed', 'call:recording-available']
      : [trigger];
  const made: Rule[] = [];
  for (const event of events) made.push(await rule(event));
  return made;
}

async function jsonOf(io: Io, given: string): Promise<unknown> {
  const text = (await dataBytes(io, given, 'payload')).toString('utf8');
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw badInput(`The payload is no JSON: ${(error as Error).message}`);
  }
}
