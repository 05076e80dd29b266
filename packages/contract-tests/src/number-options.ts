import { describe, expect, it } from '@jest/globals';

export const [MINUTE, HOUR, DAY] = [60_000, 3_600_000, 86_400_000];
export const TEN_YEARS = 3_650 * DAY;

/** Creates what has the option. What it throws, or rejects with, is the refusal. */
export type CreateWith = (options: object) => unknown;

/** An option, its limits, what has it, and what it is unless it is given; absent if nobody can see it. */
export type NumberOption = [
  what: string,
  name: string,
  min: number,
  max: number,
  create: CreateWith,
  usual?: unknown,
];

/** Registers the tests of the options of a package that are numbers. */
export function numberOptionsTests(options: readonly NumberOption[]): void {
  describe('every number that an option may be', () => {
    it.each<NumberOption>(options)(
      '%s: %s is from %d to %d, and is used as it is given',
      async (_what, name, min, max, create, ...usual) => {
        const isShown = usual.length > 0;
        if (isShown) expect(await create({})).toHaveProperty(name, usual[0]);
        for (const taken of [min, max]) {
          const made = await create({ [name]: taken });
          if (isShown) expect(made).toHaveProperty(name, taken);
        }
        for (const refused of [min - 1, max + 1, min + 0.5, `${String(min)} ms`, NaN, null])
          await expect((async () => create({ [name]: refused }))()).rejects.toThrow(
            `${name}: expected`,
          );
      },
    );
  });
}
