/** Waits until something is so, asking often; rejects when it is not so in time. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  { within = 10_000, every = 10, what = isSo.toString() } = {},
): Promise<void> {
  const deadline = performance.now() + within;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`Not so after ${String(within)} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, every));
  }
}
