import { isUtf8 } from 'node:buffer';
import { badInput } from '../cli-error.ts';
import { isPrintable } from '../terminal/control-characters.ts';

/** A word that every POSIX shell reads as exactly this text. */
export const shellQuoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** What a curl command is made of. */
export interface CurlRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The file that the body came from, unchanged: curl reads it then. */
  readonly file?: string | undefined;
}

/**
 * The curl command that sends the very same bytes.
 * @throws CliError 2 for a body that can't be written into a command line and is in no file
 */
export function curlCommand({ url, headers, body, file }: CurlRequest): string {
  const data =
    file === undefined
      ? `--data-raw ${shellQuoted(textOf(body))}`
      : `--data-binary ${shellQuoted(`@${file}`)}`;
  const lines = [
    // Brackets and braces of a URL are no patterns.
    `curl --globoff --request POST ${shellQuoted(url)}`,
    ...Object.entries(headers).map(
      ([name, value]) => `--header ${shellQuoted(`${name}: ${value}`)}`,
    ),
    data,
  ];
  return lines.join(' \\\n  ');
}

function textOf(body: Uint8Array): string {
  const text = Buffer.from(body).toString('utf8');
  if (isUtf8(body) && isPrintable(text)) return text;
  throw badInput(
    'This body has bytes that do not belong on a command line.',
    'Put it into a file, and pass it as --data @file.',
  );
}
