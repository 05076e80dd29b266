interface Row {
  readonly _id: string;
}

/** Rows by id. One that says the same as before stays the same object, so that it is not drawn again. */
export function keepSame<Kind extends Row>(
  now: readonly Kind[],
  before: ReadonlyMap<string, Kind>,
): Map<string, Kind> {
  return new Map(
    now.map((row) => {
      const old = before.get(row._id);
      return [row._id, old && JSON.stringify(old) === JSON.stringify(row) ? old : row];
    }),
  );
}
