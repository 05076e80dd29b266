/** The receiver did what the model forbids. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** @throws Violation */
export function must(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Violation(otherwise);
}
