import { inferNames, type InferredNames, type Proposal } from './infer-names.ts';
import type { Command } from 'commander';
import { examples, type App } from '../app.ts';
import { badInput } from '../errors.ts';
import { decodeText, readData, readText } from '../input/read.ts';
import { counted } from '../terminal/format.ts';
import { t } from '../terminal/text.ts';

/** `infer`: finds the field names that the spec does not show. */
export function inferCommand(app: App, base: Command): Command {
  return base
    .argument(
      '<file...>',
      'files with JSON, JSON Lines, or the output of listen --json or calls --json; - is standard input',
    )
    .addHelpText(
      'after',
      `
The service does not document the names of seven fields of a call. This command
compares the values in captured call events, recording events and responses of
GET /v1/calls, and prints the fieldNames option of the receiver with a reason
for each name. If several fields match, a comment lists all of them. The command
prints no values. A few complete calls are enough.
${examples(
  ['listen --json | tee deliveries.jsonl', 'First, capture some deliveries'],
  ['infer deliveries.jsonl', 'Then find the names'],
)}`,
    )
    .action(
      app.action(async (files: string[]) => {
        const samples: unknown[] = [];
        for (const file of files) samples.push(...(await readSamples(app, file)));
        const inferred = inferNames(samples);
        const { callEvents, callRecords } = inferred.read;
        if (callEvents + callRecords === 0)
          throw badInput(
            'The files contain no call events and no call records.',
            'Capture some first: npx call-webhooks listen --json > deliveries.jsonl',
          );
        await printInferred(app, inferred);
        return undefined;
      }),
    );
}

/** Prints the options to stdout, and what is missing to stderr. */
export async function printInferred({ output }: App, inferred: InferredNames): Promise<void> {
  const { fieldNames, snippet, read } = inferred;
  await output.print(
    { type: 'inferred', ...inferred },
    () => (snippet === '' ? [] : snippet.split('\n').map((line) => t`${line}`)),
    Infinity,
  );
  const { callEvents, recordingEvents, callRecords, ignored } = read;
  output.message(
    `Read ${counted(callEvents, 'call event')}, ${counted(recordingEvents, 'recording event')} and ${counted(callRecords, 'call record')}; ignored ${counted(ignored, 'other document')}.`,
  );
  if (callEvents === 0 && callRecords > 0)
    output.message('These names come from call records. Check them against a delivery.');
  const names = (status: Proposal['status']) =>
    fieldNames
      .filter((one) => one.status === status)
      .map(({ setting }) => setting)
      .join(', ');
  const unsure = names('not-sure');
  if (unsure !== '')
    output.message(t`Several fields match: ${unsure}. Choose one, or capture more deliveries.`);
  const missing = names('not-seen');
  if (missing !== '') output.message(t`Not found: ${missing}. Capture more deliveries.`);
}

/** Reads a file of samples. @throws CliError 2 and 3 */
export async function readSamples({ io }: App, file: string): Promise<unknown[]> {
  const text =
    file === '-' ? decodeText(await readData(io, '-', 'capture')) : await readText(file, 'capture');
  return parseCapture(text, file).flatMap(samplesOf);
}

/** The JSON values in a file: a single document, or one per line. */
function parseCapture(text: string, file: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [value];
  } catch {
    const lines = text.split(/\r?\n/);
    return lines.flatMap((line, at) => {
      if (line.trim() === '') return [];
      try {
        return [JSON.parse(line) as unknown];
      } catch {
        throw badInput(
          `Line ${String(at + 1)} of ${file} is not valid JSON.`,
          'Pass files with a JSON document, or one JSON document per line.',
        );
      }
    });
  }
}

/** The body in a record of `listen --json` or of the simulator, or the value itself. */
function samplesOf(value: unknown): unknown[] {
  const record = Object(value) as Record<string, unknown>;
  const isCall = '_id' in record;
  // What `listen --json` prints beside deliveries.
  if (!isCall && (record['type'] === 'ready' || record['type'] === 'inferred')) return [];
  const isArrival = !isCall && 'method' in record && 'outcome' in record;
  if (!isArrival && !('attempts' in record)) return [value];
  const { body, problem } = record;
  // What `listen` refused may be forged.
  if (body === undefined || problem !== undefined) return [];
  if (typeof body !== 'string') return [body];
  try {
    return [JSON.parse(body) as unknown];
  } catch {
    return [];
  }
}
