export { createVector, createVectors } from './create-vectors.ts';
export type { VectorOptions } from './source.ts';
export {
  VECTORS_VERSION,
  type Expectation,
  type Sentence,
  type Vector,
  type VectorDelivery,
  type VectorFile,
  type VectorResult,
} from './vector.ts';
