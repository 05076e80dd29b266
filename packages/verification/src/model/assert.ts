/** The receiver did something that the model forbids. */
export class Violation extends Error {
  override readonly name = 'Violation';
}

/** @throws Violation */
export function assertThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Violation(otherwise);
}
