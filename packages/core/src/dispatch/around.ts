import type { HandlerContext } from './context.ts';

/** Runs the handler, with the layers of `around` that are inside of this one. It runs once. */
export type Run = () => Promise<unknown>;

/**
 * Wraps each run of a handler: for spans, `AsyncLocalStorage`, a tenant's connection, timing.
 *
 * The attempt fails if the handler fails, even if the layer catches the error, if the layer itself
 * throws, and if it ends without having called `run`. It lasts until both have ended.
 * @example
 * around: (run, event, context) => storage.run({ key: context.key }, run)
 */
export type Around = (run: Run, event: unknown, context: HandlerContext) => unknown;

/** A handler of any event. */
export type AnyHandler = (event: unknown, context: HandlerContext) => unknown;

/** The handler within its layers; the first layer is the outermost. */
export const wrapHandler = (layers: readonly Around[], handle: AnyHandler): AnyHandler =>
  layers.reduceRight<AnyHandler>((inner, layer) => wrap(layer, inner), handle);

const NOT_CALLED = 'around did not call run before it ended, so the handler did not run.';

const wrap =
  (layer: Around, inner: AnyHandler): AnyHandler =>
  async (event, context) => {
    const handler: { running?: Promise<unknown>; isRefused?: boolean } = {};
    const run = () => {
      handler.running ??= new Promise((resolve) => {
        if (handler.isRefused) throw new Error(`${NOT_CALLED} It is too late now.`);
        resolve(inner(event, context));
      });
      handler.running.catch(() => undefined); // it is awaited below
      return handler.running;
    };
    try {
      await layer(run, event, context);
      // Otherwise an event that nobody handled would be acknowledged.
      if (!handler.running) throw new Error(NOT_CALLED);
    } finally {
      handler.isRefused = true; // the event may run elsewhere by then
      // A layer that forgets to await the handler must not acknowledge the event before it has ended.
      await handler.running;
    }
  };
