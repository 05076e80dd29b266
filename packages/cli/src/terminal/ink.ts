import pc from 'picocolors';
import type { Io, Sink } from '../io.ts';
import { painted, type Shown, type Text } from './text.ts';

const COLOURS = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const;

/** Colours for one stream; without colours they change nothing. */
export type Ink = Readonly<Record<(typeof COLOURS)[number], (value: Shown) => Text>>;

/** Inks that paint, or only look as if. */
export function inkOf(coloured: boolean): Ink {
  const paints = pc.createColors(coloured);
  return Object.fromEntries(
    COLOURS.map((colour) => [colour, (value: Shown) => painted(value, paints[colour])]),
  ) as Ink;
}

/**
 * Whether a stream gets colours: `--color` and `--no-color`, then `FORCE_COLOR`, then `NO_COLOR`
 * (whatever its value, unless empty), and else whether it is a terminal that can show them.
 */
export function wantsColour(flag: boolean | undefined, env: Io['env'], stream: Sink): boolean {
  if (flag !== undefined) return flag;
  const { FORCE_COLOR, NO_COLOR, TERM } = env;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '')
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  return stream.isTTY === true && TERM !== 'dumb';
}
