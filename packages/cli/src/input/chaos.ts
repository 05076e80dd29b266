import { badInput } from '../cli-error.ts';

/** `mode=probability` pairs; the simulator knows which modes there are. @throws CliError 2 */
export function probabilities(pairs: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, mode, number] = /^([A-Za-z]+)(?:=(\d*\.?\d+)(%?))?$/.exec(pair) ?? [];
      if (mode === undefined)
        throw badInput(`${pair} is not mode=probability.`, 'Like this: duplicate=0.2');
      const value = number === undefined ? 1 : Number(number);
      return [mode, pair.endsWith('%') ? value / 100 : value];
    }),
  );
}
