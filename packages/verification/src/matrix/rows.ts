import { bodies } from './rows/bodies.ts';
import { clocks } from './rows/clocks.ts';
import { connections } from './rows/connections.ts';
import { framing } from './rows/framing.ts';
import { methodsAndPaths } from './rows/methods-and-paths.ts';
import { signatureHeaders } from './rows/signature-headers.ts';
import type { RowGroup } from './row.ts';

/** All kinds of bad input, in the order of the table. */
export const ROW_GROUPS: readonly RowGroup[] = [
  signatureHeaders,
  clocks,
  methodsAndPaths,
  bodies,
  framing,
  connections,
];
