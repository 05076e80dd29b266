import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * A handler that does what a probe asks for in the call id, and counts. See docs/conformance.md.
 * @param file keeps the effects when the process ends: one key a line
 */
export function createEffects(file?: string) {
  const attempts = new Map<string, number>();
  const effects = new Map<string, number>();
  const add = (counts: Map<string, number>, key: string): number => {
    const count = (counts.get(key) ?? 0) + 1;
    counts.set(key, count);
    return count;
  };
  if (file !== undefined && existsSync(file))
    for (const key of readFileSync(file, 'utf8').split('\n').filter(Boolean)) add(effects, key);
  return {
    handle: async (event: object): Promise<void> => {
      const { callId, eventName } = event as Record<string, unknown>;
      const key = `${String(callId)}:${String(eventName)}`;
      const attempt = add(attempts, key);
      const slowMs = asked('slow', key);
      if (slowMs > 0) await pause(slowMs, undefined, { ref: false });
      if (attempt <= asked('fail', key)) throw new Error('as asked');
      add(effects, key);
      if (file !== undefined) appendFileSync(file, `${key}\n`);
    },
    /** What the effects URL responds. */
    report: () => JSON.stringify([...effects].map(([key, count]) => ({ key, count }))),
  };
}

export type Effects = ReturnType<typeof createEffects>;

const asked = (what: string, key: string): number =>
  Number(new RegExp(`\\.${what}-(\\d+)`).exec(key)?.[1] ?? 0);
