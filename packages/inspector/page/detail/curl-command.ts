import type { Attempt } from '@call-webhooks/simulator/control-api';

/** The very request as a command for a POSIX shell. Its signature verifies for five minutes. */
export function curlCommand({ url, headers, body }: Attempt['request']): string {
  const lines = [`curl -i ${quoted(url)}`];
  for (const [name, value] of Object.entries(headers))
    if (!/^content-length$/i.test(name)) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  return [...lines, `--data-binary ${quoted(body)}`].join(' \\\n  ');
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
