import { OUTCOMES } from '@call-webhooks/core';
import { THROWN_ERRORS, docsUrl } from '@call-webhooks/core/internal';
import type { Command } from 'commander';
import { type App, examples } from '../app.ts';
import { badInput } from '../errors.ts';
import { EFFECT_TEXT, effectOfStatus, failureOf, foreignStatus } from '../http/effects.ts';
import { didYouMean } from '../input/options.ts';
import { paragraph } from '../terminal/table.ts';
import { type Colors, join, t, type Text } from '../terminal/text.ts';

/** `explain`: explains the responses of a receiver. */
export function explainCommand(app: App, base: Command): Command {
  return base
    .argument(
      '[outcome]',
      'an outcome, a status or an error, such as signature-mismatch, 404 or ECONNREFUSED',
    )
    .addHelpText(
      'after',
      examples(
        ['explain signature-mismatch', 'Show the cause and the fix'],
        ['explain 503', 'Show every outcome with this status'],
      ),
    )
    .action(app.action((asked: string | undefined) => explain(app, asked)));
}

async function explain({ output }: App, asked: string | undefined): Promise<undefined> {
  const found = asked === undefined ? CODES.map(explanationOf) : explanations(asked);
  if (asked !== undefined || output.json) {
    for (const one of found)
      await output.print(one, (colors) => explanationLines(colors, one, output.columns));
    return undefined;
  }
  const head = ['outcome', 'status', 'when'].map((title) => ({ title }));
  await output.printTable(undefined, head, ({ bold }) =>
    found.map(({ code, status, when }) => [bold(code), status ?? '', when]),
  );
  output.message('To see the cause and the fix: npx call-webhooks explain OUTCOME');
  return undefined;
}

interface Explanation {
  readonly code: string;
  /** Null where there is no response: errors in the configuration, and failed connections. */
  readonly status: number | null;
  /** What the service does. */
  readonly service: string;
  readonly when: string;
  readonly fix: string;
}

type Code = keyof typeof OUTCOMES | keyof typeof THROWN_ERRORS;

/** The outcomes of core, and the errors that are thrown. */
export const CODES = [...Object.keys(OUTCOMES), ...Object.keys(THROWN_ERRORS)] as readonly Code[];

function explanationOf(code: Code): Explanation {
  if (!(code in OUTCOMES)) {
    const { thrown, when, fix } = THROWN_ERRORS[code as keyof typeof THROWN_ERRORS];
    return { code, status: null, service: `thrown ${thrown}, never sent`, when, fix };
  }
  const { status, when, fix } = OUTCOMES[code as keyof typeof OUTCOMES];
  return { code, status, service: EFFECT_TEXT[effectOfStatus(status)], when, fix };
}

/** Finds an outcome, or everything with a status. @throws CliError 2 */
export function explanations(asked: string): Explanation[] {
  const code = CODES.find((one) => one === asked);
  if (code !== undefined) return [explanationOf(code)];
  if (/^[1-5]\d\d$/.test(asked)) return withStatus(Number(asked));
  const failure = failureOf(asked);
  if (failure) return [{ code: asked, status: null, service: EFFECT_TEXT.retried, ...failure }];
  throw badInput(
    `There is no outcome ${asked}.`,
    didYouMean(asked, CODES, 'List them: npx call-webhooks explain'),
  );
}

function withStatus(status: number): Explanation[] {
  const found = CODES.map(explanationOf).filter((one) => one.status === status);
  if (found.length > 0) return found;
  const service = EFFECT_TEXT[effectOfStatus(status)];
  return [{ code: String(status), status, service, ...foreignStatus(status) }];
}

/** The section in the docs: its URL, or its path where a terminal would break the URL. */
function linkTo(code: string, columns: number): string {
  const url = docsUrl(`outcomes.md#${code}`);
  return url.length + 2 <= columns ? url : `docs/outcomes.md#${code}`;
}

function explanationLines(colors: Colors, one: Explanation, columns: number): Text[] {
  const { code, status, service, when, fix } = one;
  const isOutcome = (CODES as readonly string[]).includes(code);
  const isNumber = status === null || code === String(status);
  const head = [colors.bold(code), ...(isNumber ? [] : [status]), colors.dim(service)];
  return [
    join(head, '  '),
    ...paragraph(when, columns, 2),
    ...paragraph(`Fix: ${fix}`, columns, 2),
    ...(isOutcome ? [t`  ${colors.dim(linkTo(code, columns))}`] : []),
  ];
}
