import { isUtf8 } from 'node:buffer';
import { badInput } from '../../errors.ts';
import { isPrintable } from '../../terminal/text.ts';

/** Quotes a text for POSIX shells. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The parts of a curl command. */
export interface CurlRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The file that holds the body, if curl can read it from there. */
  readonly file?: string | undefined;
}

/**
 * The curl command that sends exactly these bytes.
 * @throws CliError 2 for a body that cannot be part of a command line, and is not in a file
 */
export function curlCommand({ url, headers, body, file }: CurlRequest): string {
  const data =
    file === undefined
      ? `--data-raw ${shellQuote(textOf(body))}`
      : `--data-binary ${shellQuote(`@${file}`)}`;
  const lines = [
    // Without --globoff, curl expands brackets and braces in a URL.
    `curl --globoff --request POST ${shellQuote(url)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `--header ${shellQuote(`${name}: ${value}`)}`,
    ),
    data,
  ];
  return lines.join(' \\\n  ');
}

function textOf(body: Uint8Array): string {
  const text = Buffer.from(body).toString('utf8');
  if (isUtf8(body) && isPrintable(text)) return text;
  throw badInput(
    'This body contains bytes that cannot be part of a command line.',
    'Save it to a file and pass --data @file.',
  );
}
