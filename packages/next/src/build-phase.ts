/** Whether `next build` is importing the routes to look at them. */
export const duringBuild = (): boolean => process.env['NEXT_PHASE'] === 'phase-production-build';

/** Makes a value when it is first asked for. */
export function onFirstUse<Value extends object>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}
