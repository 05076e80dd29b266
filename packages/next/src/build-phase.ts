/** Whether `next build` is importing the routes. */
export const duringBuild = (): boolean => process.env['NEXT_PHASE'] === 'phase-production-build';

/** Creates a value on first use. */
export function onFirstUse<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
