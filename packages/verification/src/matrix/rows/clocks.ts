import { requestBytes } from '../request-bytes.ts';
import type { Row, RowGroup } from '../row.ts';

const stamped = (name: string, expect: Row['expect'], aheadSeconds: number): Row => ({
  name,
  expect,
  steps: async ({ sign, path }) => [requestBytes(await sign(undefined, { aheadSeconds }), path)],
});

export const clocks: RowGroup = {
  title: 'Replays and clocks',
  rows: [
    {
      name: 'the same request twice in one packet',
      expect: 'any',
      responses: 2,
      steps: ({ valid, path }) => [
        Buffer.concat([requestBytes(valid, path, { keepAlive: true }), requestBytes(valid, path)]),
      ],
    },
    stamped('signed 298 s ahead', 'accepted', 298),
    stamped('signed 302 s ahead', 'refused', 302),
    stamped('signed 298 s ago', 'accepted', -298),
    stamped('signed 302 s ago', 'refused', -302),
  ],
};
