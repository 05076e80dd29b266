import { describe, expect, it } from '@jest/globals';
import { createTestReceiver, Lines } from '../support.ts';

/** A schema whose output tells how often its fields are read. */
function counted(fields: Record<string, unknown>) {
  let reads = 0;
  const value = new Proxy(fields, {
    get(target, name) {
      reads += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  const validate = () => ({ value });
  const schema = { '~standard': { version: 1 as const, vendor: 'test', validate } };
  return { schema, reads: () => reads };
}

/** Every error of one delivery, with causes and parts, that quotes what it was given. */
const errors = (quote: string) => {
  const causes = [4, 3, 2, 1].reduce(
    (cause, at) => new Error(`cause ${String(at)} of ${quote}`, { cause }),
    new Error(quote),
  );
  const parts = Array.from({ length: 20 }, (_, at) => new Error(`part ${String(at)} of ${quote}`));
  return new AggregateError(parts, `all of ${quote}`, { cause: causes });
};

async function fail(schema: object, thrown: unknown): Promise<string> {
  const logger = new Lines();
  const reject = () => Promise.reject(thrown);
  const options = { custom: { schema, handle: reject }, deadLetter: reject, maxAttempts: 1 };
  const { send } = createTestReceiver({ ...options, logger } as object);
  expect(await send({ ticket: 1 })).toBe('handler-failed');
  expect(logger.entries.length).toBeGreaterThan(1); // also that of the sink
  return logger.all.join('\n');
}

describe('a delivery that fails', () => {
  it('has its values read once, however many errors it has and whoever tells of them', async () => {
    const names = Array.from({ length: 2_000 }, (_, at) => [
      `field${String(at)}`,
      `Grace ${String(at)}`,
    ]);
    const { schema, reads } = counted(Object.fromEntries(names) as Record<string, unknown>);
    const told = await fail(schema, errors('Grace 17'));
    expect(told).not.toContain('Grace');
    expect(reads()).toBeGreaterThanOrEqual(2_000);
    expect(reads()).toBeLessThan(2_100);
  });

  it('is told without the texts of its errors where it has no end of values', async () => {
    let made = 0;
    const endless = (): object => ({
      get next() {
        made += 1;
        return endless();
      },
    });
    const value = endless();
    const schema = { '~standard': { version: 1, vendor: 'test', validate: () => ({ value }) } };
    const told = await fail(schema, new Error('no Grace'));
    expect(told).toContain('[withheld');
    expect(told).not.toContain('Grace');
    expect(made).toBeLessThanOrEqual(50_001);
  });
});
