import { badInput } from '../cli-error.ts';

/** `Name: value` lines as a record. @throws CliError 2 for a line that is none */
export function headerRecord(lines: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (const line of lines) {
    const [, name, value] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([^\r\n]*?)[ \t]*$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw badInput(`${line} is no header.`, 'Like this: --header "X-Tenant: blue"');
    record[name] = value;
  }
  return record;
}
