import type { Simulator } from '@call-webhooks/simulator';
import type { Ink } from '../terminal/ink.ts';
import { pairs } from '../terminal/table.ts';
import { t, type Shown, type Text } from '../terminal/text.ts';
import { DEFAULT_PORT } from '../simulator/address.ts';

/** What the user has to know at the start: where it is, what it sends where, and the secret. */
export function banner(ink: Ink, simulator: Simulator, secrets: readonly string[]): Text[] {
  const { url, apiToken, seed, rules, clock } = simulator;
  const targets = rules
    .list()
    .flatMap(({ trigger, actions }) =>
      actions.map((action): [string, Shown] => [trigger, t`→ ${action.url}`]),
    );
  return [
    ink.bold('The service runs on this machine.'),
    t``,
    ...pairs(ink, [
      ['inspector', ink.cyan(url)],
      ['REST', t`${url}/v1  with X-API-Token: ${apiToken}`],
      ['seed', seed],
      ['clock', clock.mode],
      ...targets,
      ...secrets.map((secret): [string, Shown] => ['signing secret', ink.bold(secret)]),
    ]),
    t``,
    ...(targets.length === 0
      ? [t`Nothing is sent yet: call-webhooks rules create --url http://127.0.0.1:3000/hook`]
      : [t`Place a call: ${ink.cyan(t`call-webhooks trigger call${elsewhere(url)}`)}`]),
    ink.dim('Ctrl-C stops it.'),
    t``,
  ];
}

const elsewhere = (url: string) =>
  url.endsWith(`:${String(DEFAULT_PORT)}`) ? '' : ` --simulator ${new URL(url).port}`;
