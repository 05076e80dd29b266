import type { HandlerContext } from './context.ts';

/** Runs the handler, with the layers of `around` that are inside of this one. It runs once. */
export type Run = () => Promise<unknown>;

/**
 * Wraps each run of a handler: for spans, `AsyncLocalStorage`, a tenant's connection, timing.
 *
 * The attempt fails if the handler fails, even if the layer catches the error, and if the layer
 * itself throws. It lasts until both have ended. If the layer never calls `run`, the handler does not
 * run and the event counts as handled.
 * @example
 * around: (run, event, context) => storage.run({ key: context.key }, run)
 */
export type Around = (run: Run, event: unknown, context: HandlerContext) => unknown;

/** A handler of any event. */
export type AnyHandler = (event: unknown, context: HandlerContext) => unknown;

/** The handler within its layers; the first layer is the outermost. */
export const wrapHandler = (layers: readonly Around[], handle: AnyHandler): AnyHandler =>
  layers.reduceRight<AnyHandler>((inner, layer) => wrap(layer, inner), handle);

const wrap =
  (layer: Around, inner: AnyHandler): AnyHandler =>
  (event, context) => {
    let running: Promise<unknown> | undefined;
    const run = () => {
      running ??= new Promise((resolve) => {
        resolve(inner(event, context));
      });
      return running;
    };
    return waitForBoth(
      () => layer(run, event, context),
      () => running,
    );
  };

/** A layer that forgets to await the handler must not acknowledge the event before it has ended. */
async function waitForBoth(
  layer: () => unknown,
  handler: () => Promise<unknown> | undefined,
): Promise<void> {
  try {
    const wrapped = layer();
    handler()?.catch(() => undefined); // it is awaited below
    await wrapped;
  } finally {
    await handler();
  }
}
