import { CONFIGURATION_ERRORS, docsUrl, OUTCOMES } from '@call-webhooks/core';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../errors.ts';
import { didYouMean } from '../input/did-you-mean.ts';
import { EFFECT_TEXT, effectOfStatus } from '../http/effect.ts';
import type { Colors } from '../terminal/colors.ts';
import { paragraph, table } from '../terminal/format.ts';
import { join, t, type Text } from '../terminal/text.ts';

/** `explain`: explains the responses of a receiver. */
export function explainCommand(app: App, base: Command): Command {
  return base
    .argument('[outcome|status]', 'such as signature-mismatch or 404; without it, list all')
    .addHelpText(
      'after',
      examples(
        ['explain signature-mismatch', 'The cause and the fix'],
        ['explain 503', 'Every outcome with this status'],
      ),
    )
    .action(app.action((asked: string | undefined) => explain(app, asked)));
}

async function explain({ output }: App, asked: string | undefined): Promise<undefined> {
  if (asked === undefined && !output.json) {
    await output.print(undefined, (colors) =>
      table(
        colors,
        ['outcome', 'status', 'when'],
        CODES.map(explanationOf).map(({ code, status, when }) => [
          colors.bold(code),
          status ?? '',
          when,
        ]),
        output.columns,
      ),
    );
    output.message('For the cause and the fix: call-webhooks explain OUTCOME');
    return undefined;
  }
  for (const one of asked === undefined ? CODES.map(explanationOf) : find(asked))
    await output.print(one, (colors) => explanationLines(colors, one, output.columns));
  return undefined;
}

interface Explanation {
  readonly code: string;
  /** Null for errors in the configuration, which are thrown and never sent as a response. */
  readonly status: number | null;
  /** What the service does. */
  readonly service: string;
  readonly when: string;
  readonly fix: string;
}

type Code = keyof typeof OUTCOMES | keyof typeof CONFIGURATION_ERRORS;

/** The outcomes of core, and the two errors in the configuration. */
export const CODES = [
  ...Object.keys(OUTCOMES),
  ...Object.keys(CONFIGURATION_ERRORS),
] as readonly Code[];

function explanationOf(code: Code): Explanation {
  if (!(code in OUTCOMES)) {
    const { when, fix } = CONFIGURATION_ERRORS[code as keyof typeof CONFIGURATION_ERRORS];
    return { code, status: null, service: 'thrown at start-up, never sent', when, fix };
  }
  const { status, when, fix } = OUTCOMES[code as keyof typeof OUTCOMES];
  return { code, status, service: EFFECT_TEXT[effectOfStatus(status)], when, fix };
}

/** Finds an outcome, or everything with a status. @throws CliError 2 */
function find(asked: string): Explanation[] {
  const code = CODES.find((one) => one === asked);
  if (code !== undefined) return [explanationOf(code)];
  if (/^[1-5]\d\d$/.test(asked)) return withStatus(Number(asked));
  throw badInput(
    `There is no outcome ${asked}.`,
    didYouMean(asked, CODES, 'List them: call-webhooks explain'),
  );
}

function withStatus(status: number): Explanation[] {
  const found = CODES.map(explanationOf).filter((one) => one.status === status);
  if (found.length > 0) return found;
  const service = EFFECT_TEXT[effectOfStatus(status)];
  return [{ code: String(status), status, service, ...foreignStatus(status) }];
}

/** A status that our receivers never send. */
function foreignStatus(status: number): Pick<Explanation, 'when' | 'fix'> {
  const when = 'Receivers of these packages never send this status.';
  if (status === 404)
    return {
      when: `${when} It comes from a wrong path, another server, a proxy or the framework.`,
      fix: 'Compare the URL of the action with the path of the receiver. Return 503 for unknown paths.',
    };
  if (status === 410) return { when, fix: 'Return 503 instead of 410, which means "gone".' };
  if (status >= 300 && status < 400)
    return {
      when: `${when} The spec does not say that the service follows redirects.`,
      fix: 'Use the final URL in the action.',
    };
  return { when, fix: 'Check what runs between the service and the receiver.' };
}

function explanationLines(colors: Colors, one: Explanation, columns: number): Text[] {
  const { code, status, service, when, fix } = one;
  const isNumber = status === null || code === String(status);
  const head = [colors.bold(code), ...(isNumber ? [] : [status]), colors.dim(service)];
  return [
    join(head, '  '),
    ...paragraph(when, columns, 2),
    ...paragraph(`Fix: ${fix}`, columns, 2),
    ...(code === String(status) ? [] : [t`  ${colors.dim(docsUrl(`outcomes.md#${code}`))}`]),
  ];
}
