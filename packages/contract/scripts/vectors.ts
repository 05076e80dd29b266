// Writes packages/contract/vectors: npm run vectors. With --check, it writes nothing and fails if a
// file is out of date.
import { createVectors } from '../src/index.ts';
import { writeFiles } from './write-files.ts';

/** 2027-01-15T08:00:00Z: the vectors are the same on every machine and day. */
const NOW = 1_800_000_000_000;

const files = createVectors({ now: NOW, seed: 'call-webhooks' }).map(
  ({ name, ...file }) =>
    [`${name}.json`, { $schema: '../vectors.schema.json', name, ...file }] as const,
);
await writeFiles('vectors', new Map(files), 'npm run vectors');
