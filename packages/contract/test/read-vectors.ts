import { readdirSync, readFileSync } from 'node:fs';
import type { Vector, VectorDelivery, VectorFile } from '../src/index.ts';

const FOLDER = new URL('../vectors/', import.meta.url);

/** A file of this package. */
export const readJson = (path: string): unknown =>
  JSON.parse(readFileSync(new URL(`../${path}`, import.meta.url), 'utf8'));

/** The published files, by their names. */
export const files = readdirSync(FOLDER).map((name) => ({
  name,
  file: readJson(`vectors/${name}`) as VectorFile,
}));

export const vectors: readonly Vector[] = files.flatMap(({ file }) => file.vectors);

export const deliveries = vectors.flatMap((vector) =>
  vector.deliveries.map((delivery) => ({ vector, delivery })),
);

/** The headers by their names in lower case. */
export const headersOf = ({ headers }: VectorDelivery): Record<string, string> =>
  Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]));

export const bytesOf = ({ body }: VectorDelivery): Buffer => Buffer.from(body.base64, 'base64');
