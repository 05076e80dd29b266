/** A copy of a record without some of its fields. */
export function omit<Whole extends object, Name extends keyof Whole>(
  record: Whole,
  ...names: Name[]
): Omit<Whole, Name> {
  const copy = { ...record };
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- this is a copy
  for (const name of names) delete copy[name];
  return copy;
}
