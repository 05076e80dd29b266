// Writes the JSON Schemas, OpenAPI and AsyncAPI of packages/contract: npm run contract. With --check,
// it writes nothing and fails if a file is out of date.
import { asyncapi } from './asyncapi.ts';
import { jsonSchemas } from './json-schemas.ts';
import { openapi } from './openapi.ts';
import { writeFiles } from './write-files.ts';

const command = 'npm run contract';
await writeFiles('schemas', jsonSchemas, command);
await writeFiles(
  '.',
  new Map<string, object>(Object.entries({ 'openapi.json': openapi, 'asyncapi.json': asyncapi })),
  command,
);
