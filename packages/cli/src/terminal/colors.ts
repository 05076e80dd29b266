import { styleText } from 'node:util';
import type { Io, Sink } from '../io.ts';
import { style, type Printable, type Text } from './text.ts';

const STYLES = ['bold', 'dim', 'red', 'green', 'yellow', 'cyan', 'magenta'] as const;

/** The colors of one stream. Where colors are off, they change nothing. */
export type Colors = Readonly<Record<(typeof STYLES)[number], (value: Printable) => Text>>;

/** Creates colors. */
export function colorsFor(enabled: boolean): Colors {
  const formatter = (name: (typeof STYLES)[number]) =>
    enabled ? (plain: string) => styleText(name, plain, { validateStream: false }) : String;
  return Object.fromEntries(
    STYLES.map((name) => [name, (value: Printable) => style(value, formatter(name))]),
  ) as Colors;
}

/**
 * Whether a stream gets colors. `--color` and `--no-color` decide first, then `FORCE_COLOR`, then
 * `NO_COLOR` (any value but an empty one), then whether it is a terminal that can show colors.
 */
export function wantsColor(flag: boolean | undefined, env: Io['env'], stream: Sink): boolean {
  if (flag !== undefined) return flag;
  const { FORCE_COLOR, NO_COLOR, TERM } = env;
  if (FORCE_COLOR !== undefined && FORCE_COLOR !== '')
    return FORCE_COLOR !== '0' && FORCE_COLOR !== 'false';
  if (NO_COLOR !== undefined && NO_COLOR !== '') return false;
  return stream.isTTY === true && TERM !== 'dumb';
}
