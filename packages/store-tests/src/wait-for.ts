/**
 * Waits until a condition holds, and checks it often.
 * @param options.within milliseconds to wait; 60,000 by default
 * @param options.every milliseconds between two checks; 10 by default
 * @throws Error when the condition does not hold in time
 */
export async function waitFor(
  condition: () => boolean | Promise<boolean>,
  {
    within = 60_000,
    every = 10,
    what = condition.toString(),
  }: { within?: number | undefined; every?: number; what?: string } = {},
): Promise<void> {
  const deadline = performance.now() + within;
  while (!(await condition())) {
    if (performance.now() > deadline)
      throw new Error(`Still false after ${String(within)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
