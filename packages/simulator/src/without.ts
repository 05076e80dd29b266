/** A copy of a record that lacks some of its fields. */
export function without<Whole extends object, Name extends keyof Whole>(
  record: Whole,
  ...names: Name[]
): Omit<Whole, Name> {
  const copy = { ...record };
  // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a copy of our own
  for (const name of names) delete copy[name];
  return copy;
}
