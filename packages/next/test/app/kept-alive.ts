const KEPT = Symbol.for('call-webhooks test: kept alive');
const held = globalThis as unknown as Record<symbol, unknown>;

/** The work that the platform waits for before it freezes the function. */
export const keptAlive = () => (held[KEPT] ??= new Set()) as Set<Promise<unknown>>;

/** Plays a serverless platform: Next's `after` passes on to this `waitUntil` what it waits for. */
export function playPlatform(): void {
  const waitUntil = (work: Promise<unknown>) => {
    keptAlive().add(work);
    void work.finally(() => keptAlive().delete(work));
  };
  held[Symbol.for('@next/request-context')] = { get: () => ({ waitUntil }) };
}
