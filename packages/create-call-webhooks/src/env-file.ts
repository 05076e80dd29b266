const VARIABLE = /^(?:export\s+)?([A-Za-z_]\w*)\s*=/;

/** An `.env` file that was there before, with what it lacked. */
export interface CompletedEnv {
  readonly content: string;
  /** The names of the variables that were added. */
  readonly added: readonly string[];
}

/**
 * Adds to an existing `.env` file the variables that it lacks. What it has stays as it is: it is the only
 * place where its secrets are.
 */
export function completeEnv(existing: string, own: string): CompletedEnv {
  const nameOf = (line: string) => VARIABLE.exec(line.trim())?.[1];
  const known = new Set(existing.split('\n').map(nameOf));
  const lines = own.split('\n').filter((line) => {
    const name = nameOf(line);
    return name !== undefined && !known.has(name);
  });
  const gap = lines.length === 0 || existing === '' || existing.endsWith('\n') ? '' : '\n';
  return {
    content: existing + gap + lines.map((line) => `${line}\n`).join(''),
    added: lines.flatMap((line) => nameOf(line) ?? []),
  };
}
