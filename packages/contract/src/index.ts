export { createVectors } from './vectors/create-vectors.ts';
export type { VectorOptions } from './vectors/source.ts';
export {
  VECTORS_VERSION,
  type Expectation,
  type Sentence,
  type Vector,
  type VectorDelivery,
  type VectorFile,
  type VectorResult,
} from './vectors/vector.ts';
