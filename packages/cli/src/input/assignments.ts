import { badInput } from '../cli-error.ts';

type Fields = Record<string, unknown>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value of `path=value`: JSON, and what is none is a text. */
function valueOf(given: string): unknown {
  try {
    return JSON.parse(given) as unknown;
  } catch {
    return given;
  }
}

/**
 * Sets `path=value` pairs in an object, `fromPhoneNumber.label=main` for one inside of another.
 * @returns a new object
 * @throws CliError 2 for what is no pair, and for a path through something that is no object
 */
export function assign(target: Fields, pairs: readonly string[] = []): Fields {
  const result = structuredClone(target);
  for (const pair of pairs) {
    const at = pair.indexOf('=');
    const path = pair.slice(0, Math.max(at, 0)).split('.');
    if (at < 1 || path.includes(''))
      throw badInput(`--set ${pair}: that is not path=value.`, `Like this: --set calledName=Ada`);
    put(result, path, valueOf(pair.slice(at + 1)), pair);
  }
  return result;
}

function put(
  target: Fields,
  [name = '', ...rest]: readonly string[],
  value: unknown,
  pair: string,
) {
  if (rest.length === 0) {
    // Not by assignment: `__proto__` is a name like any other.
    Object.defineProperty(target, name, {
      value,
      enumerable: true,
      configurable: true,
      writable: true,
    });
    return;
  }
  const inner = Object.hasOwn(target, name) ? target[name] : undefined;
  if (inner !== undefined && !isFields(inner))
    throw badInput(`--set ${pair}: ${name} is no object, so nothing can be set in it.`);
  const copy = { ...inner };
  put(copy, rest, value, pair);
  put(target, [name], copy, pair);
}
