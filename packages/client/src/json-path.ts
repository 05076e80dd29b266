const deepest = 4;

/** Whether a value is an object and not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value at a path such as `paging.next`, or undefined. Inherited properties do not count. */
export function valueAt(value: unknown, path: string): unknown {
  let current = value;
  for (const key of path.split('.')) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, key))
      return undefined;
    current = Reflect.get(current, key);
  }
  return current;
}

/** The paths of all values that pass a test. Arrays are not searched, nor deep levels. */
export function pathsTo(
  value: unknown,
  test: (value: unknown, path: string) => boolean,
  parents: readonly string[] = [],
): string[] {
  const path = parents.join('.');
  if (parents.length > 0 && test(value, path)) return [path];
  if (!isRecord(value) || parents.length === deepest) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    // A name with a dot cannot be written as a path.
    key.includes('.') ? [] : pathsTo(inner, test, [...parents, key]),
  );
}
