import { describe, expect, test } from '@jest/globals';
import { ROW_GROUPS } from '../src/matrix/rows.ts';
import { expressTarget, fastifyTarget, nodeTarget } from '../src/matrix/targets/in-process.ts';
import { tryRow } from '../src/matrix/try-row.ts';

for (const kind of [nodeTarget, expressTarget, fastifyTarget])
  describe(kind.name, () => {
    for (const { title, rows } of ROW_GROUPS)
      describe(title, () => {
        test.each(rows)('$name', async (row) => {
          const target = await kind.start();
          try {
            const { faults, ...seen } = await tryRow(row, target);
            expect({ faults, seen }).toEqual({ faults: [], seen: expect.anything() });
            if (process.env.PROOF_SHOW)
              process.stderr.write(
                `${kind.name} | ${row.name} | ${seen.answer} | ${seen.afterwards} | ${(seen.logged ?? []).join(' // ')}\n`,
              );
          } finally {
            await target.close();
          }
        });
      });
  });
