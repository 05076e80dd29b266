// Writes the vectors, the JSON Schemas and OpenAPI of packages/contract: npm run contract. With
// --check, it writes nothing and fails if a file is out of date.
import { createVectors } from '../src/index.ts';
import { openapi } from './openapi.ts';
import { jsonSchemas } from './schemas.ts';
import { writeFiles } from './write-files.ts';

/** 2027-01-15T08:00:00Z: the vectors are the same on every machine and day. */
const NOW = 1_800_000_000_000;

const vectors = createVectors({ now: NOW, seed: 'call-webhooks' }).map(
  ({ name, ...file }) =>
    [`${name}.json`, { $schema: '../vectors.schema.json', name, ...file }] as const,
);
await writeFiles('vectors', new Map(vectors));
await writeFiles('schemas', jsonSchemas);
await writeFiles('.', new Map([['openapi.json', openapi]]));
