/** A word of a command line for POSIX shells, in quotes if it needs them. */
export const shellWord = (text: string): string =>
  /^[\w:/.-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
